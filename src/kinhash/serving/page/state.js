// What is shown, as the address says it: a copied link shows the same.
// {index, other, id | text | code (and code2 for the other index) | nothing, where}

const FIELDS = ["index", "other", "id", "text", "code", "code2", "where"];

export function fromAddress(address = location.search) {
  const parameters = new URLSearchParams(address);
  return Object.fromEntries(FIELDS.filter((f) => parameters.get(f)).map((f) => [f, parameters.get(f)]));
}

export function toAddress(state) {
  const pairs = FIELDS.filter((field) => state[field]).map((field) => [field, state[field]]);
  return "/" + (pairs.length ? "?" + new URLSearchParams(pairs) : "");
}

export function remember(state, { replace = false } = {}) {
  const address = toAddress(state);
  if (address === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", address);
}

// The same place without a query.
export const withoutQuery = ({ index, other, where }) => ({ index, other, where });

// What a request asks with; null where there is no query.
export function asked(state, which) {
  if (state.id) return { id: state.id };
  if (state.text) return { text: state.text };
  const code = which === 1 && state.code2 ? state.code2 : state.code;
  return code ? { codes: [code] } : null;
}
