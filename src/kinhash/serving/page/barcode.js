// A code as bars: bit j of the code is column j, 64 columns a row. Bits that differ from the query stand out.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 64;

export function bitsOf(hex) {
  const bits = [];
  for (let at = 0; at < hex.length; at += 2) {
    const byte = parseInt(hex.slice(at, at + 2), 16);
    for (let bit = 0; bit < 8; bit += 1) bits.push((byte >> bit) & 1);
  }
  return bits;
}

export function barcode(hex, reference = null) {
  const bits = bitsOf(hex);
  const other = reference && reference.length === hex.length ? bitsOf(reference) : null;
  const rows = Math.ceil(bits.length / WIDTH);
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", `0 0 ${Math.min(WIDTH, bits.length)} ${rows * 8}`);
  drawing.setAttribute("preserveAspectRatio", "none");
  drawing.setAttribute("class", "barcode");
  drawing.setAttribute("aria-hidden", "true");
  drawing.append(
    bars(bits, (place) => bits[place] && !(other && bits[place] !== other[place]), "same"),
    bars(bits, (place) => bits[place] && other && bits[place] !== other[place], "gained"),
    bars(bits, (place) => !bits[place] && other && bits[place] !== other[place], "lost"),
  );
  return drawing;
}

function bars(bits, drawn, name) {
  const path = document.createElementNS(SVG, "path");
  const low = name === "lost"; // a bit that only the query has: the foot of a bar
  const steps = bits.map((_, place) => {
    if (!drawn(place)) return "";
    const top = Math.floor(place / WIDTH) * 8 + (low ? 5.5 : 0);
    return `M${place % WIDTH} ${top}h1v${low ? 1.5 : 7}h-1z`;
  });
  path.setAttribute("d", steps.join(""));
  path.setAttribute("class", name);
  return path;
}
