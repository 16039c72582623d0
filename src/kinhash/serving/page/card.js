// One item of the results: a button that searches from it.

import { thumbnail } from "/page/api.js";
import { barcode } from "/page/barcode.js";

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// hit: {id, distance or null, code, metadata, semantic or null}; place: {index, bits, code of the query or null}
export function card(hit, place, choose) {
  const label = typeof hit.metadata.label === "string" ? hit.metadata.label : null;
  const button = element("button", { type: "button", className: "card", tabIndex: -1 });
  button.dataset.id = hit.id;
  button.title = JSON.stringify(hit.metadata);
  button.setAttribute("aria-label", said(hit, place, label));
  button.append(picture(hit.id, place.index), barcode(hit.code, place.code), facts(hit, label));
  if (hit.semantic !== null && hit.semantic !== undefined) {
    button.classList.add("coloured");
    button.style.setProperty("--far-share", `${Math.round(hit.semantic * 100)}%`);
  }
  button.addEventListener("click", () => choose(String(hit.id)));
  return element("li", {}, button);
}

function said(hit, place, label) {
  const parts = [label, String(hit.id)];
  if (hit.distance !== null) parts.push(`distance ${hit.distance} of ${place.bits} bits`);
  if (hit.semantic !== null && hit.semantic !== undefined) parts.push(`distance in meaning ${hit.semantic}`);
  return `${parts.filter(Boolean).join(", ")}. Search from it`;
}

function picture(id, index) {
  const frame = element("span", { className: "frame" });
  const image = element("img", { alt: "", loading: "lazy", decoding: "async", src: thumbnail(index, id) });
  image.addEventListener("error", () => {
    frame.replaceChildren(element("span", { className: "no-picture", textContent: "no picture" }));
  });
  frame.append(image);
  return frame;
}

// Where it lies now, where the metadata say so: an id may be the path of long ago.
const nameOf = ({ id, metadata }) => String(metadata.path ?? id).split("/").pop();

function facts(hit, label) {
  const line = element("span", { className: "facts" });
  if (hit.distance !== null) {
    line.append(element("b", { textContent: hit.distance }));
  }
  line.append(element("span", { className: "name", textContent: label ?? nameOf(hit) }));
  if (hit.semantic !== null && hit.semantic !== undefined) {
    line.append(element("span", { className: "meaning", textContent: hit.semantic.toFixed(2) }));
  }
  return line;
}
