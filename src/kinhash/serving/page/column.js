// The results of one index: a heading, a list of cards, a button for more.

import * as api from "/page/api.js";
import { barcode } from "/page/barcode.js";
import { card, element } from "/page/card.js";
import { asked } from "/page/state.js";

const PAGE = 24;

export class Column {
  constructor(info, which, choose) {
    this.info = info;
    this.which = which;
    this.choose = choose;
    this.heading = element("h2", { tabIndex: -1, textContent: info.name });
    this.legend = element("p", { className: "legend", hidden: true });
    this.list = element("ul", { className: "cards" });
    this.list.setAttribute("role", "list");
    this.more = element("button", { type: "button", className: "more", textContent: "More", hidden: true });
    this.more.addEventListener("click", () => this.onmore?.());
    this.root = element("section", { className: "column" }, this.heading, this.legend, this.list, this.more);
    this.root.setAttribute("aria-label", `Results of ${info.name}`);
  }

  // Show the first page for a state; `picture` is a file that was just given.
  async show(state, picture, signal) {
    this.root.setAttribute("aria-busy", "true");
    this.more.hidden = true;
    this.onmore = null;
    try {
      const found = await this.fetch(state, picture, null, signal);
      this.code = found.code;
      this.label = found.reference?.label; // pages that follow are coloured alike
      this.list.replaceChildren();
      this.fill(found, state);
      this.describe(found);
      return found;
    } catch (error) {
      if (error.name !== "AbortError") this.list.replaceChildren();
      throw error;
    } finally {
      if (!signal.aborted) this.root.removeAttribute("aria-busy");
    }
  }

  async fetch(state, picture, after, signal) {
    const fields = { where: state.where || null, after };
    if (picture) return api.searchPicture(this.info.name, picture, { ...fields, k: PAGE }, signal);
    const query = asked(state, this.which);
    if (query) return api.search(this.info.name, { ...fields, ...query, k: PAGE, label: after && this.label }, signal);
    const page = await api.items(this.info.name, { ...fields, limit: PAGE }, signal);
    const items = page.ids.map((_, i) => ({ code: page.codes[i], metadata: page.metadata[i], semantic: null }));
    return { code: null, ids: page.ids, distances: page.ids.map(() => null), items, next: page.next, reference: null };
  }

  fill(found, state) {
    const place = { index: this.info.name, bits: this.info.bits, code: this.code };
    const cards = found.ids.map((id, i) =>
      card({ id, distance: found.distances[i], ...found.items[i] }, place, this.choose),
    );
    this.list.append(...cards);
    if (!this.list.children.length) {
      this.list.append(element("li", { className: "empty", textContent: this.nothing(state) }));
    }
    this.more.hidden = found.next === null;
    this.onmore = found.next === null ? null : () => this.onward(found.next, state);
  }

  async onward(after, state) {
    this.more.disabled = true;
    try {
      const last = this.list.children.length;
      // a picture was sent once: its code goes on
      const code = state.id || state.text ? null : this.code;
      this.fill(await this.fetch(code ? { ...state, code, code2: code } : state, null, after), state);
      this.list.children[last]?.firstElementChild?.focus();
    } catch (error) {
      this.onerror?.(error);
    } finally {
      this.more.disabled = false;
    }
  }

  describe({ reference }) {
    this.legend.hidden = !reference;
    if (!reference) return;
    const sources = { item: "of the item", prediction: "predicted", nearest: "of the nearest item" };
    this.legend.replaceChildren(
      "Colour: distance in meaning from ",
      element("b", { textContent: reference.label }),
      ` (${sources[reference.source]}) `,
      element("span", { className: "near", textContent: "near" }),
      element("span", { className: "ramp" }),
      element("span", { className: "far", textContent: "far" }),
    );
  }

  nothing(state) {
    if (state.where) return "Nothing passes the filter.";
    return this.info.items ? "Nothing was found." : "This index is empty: kinhash index add fills it.";
  }

  codeDrawing() {
    const drawing = element("p", { className: "code" }, barcode(this.code), element("code", { textContent: this.code }));
    drawing.setAttribute("aria-label", `Code of the query in ${this.info.name}: ${this.code}`);
    return drawing;
  }
}
