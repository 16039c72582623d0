// Requests to the server. Whatever goes wrong becomes an Error whose message a person can read.

export class Failure extends Error {}

// Ids may be integers that a JavaScript number cannot hold: those stay as the text of their digits.
const exact = (_key, value, context) =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && context
    ? context.source
    : value;

async function ask(path, options) {
  let reply;
  try {
    reply = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure("The server does not answer. Is it still running?");
  }
  let content;
  try {
    content = JSON.parse(await reply.text(), exact);
  } catch {
    throw new Failure(`The server answered ${reply.status}, and nothing that can be read.`);
  }
  if (!reply.ok) throw new Failure(content.error?.message ?? `The server answered ${reply.status}.`);
  return content;
}

const post = (path, fields, signal) =>
  ask(path, {
    method: "POST",
    signal,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(fields),
  });

const base = (index) => `/api/${encodeURIComponent(index)}`;

export const server = () => ask("/api");

export const items = (index, fields, signal) => post(`${base(index)}/items`, fields, signal);

export async function search(index, fields, signal) {
  const found = await post(`${base(index)}/search`, { ...fields, items: true }, signal);
  return { code: found.codes[0], ...found.answers[0] };
}

export async function searchPicture(index, picture, fields, signal) {
  const known = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  const query = new URLSearchParams([...known, ["items", "true"]]);
  const found = await ask(`${base(index)}/search/picture?${query}`, { method: "POST", signal, body: picture });
  return { code: found.codes[0], ...found.answers[0] };
}

export const thumbnail = (index, id, size = 256) =>
  `${base(index)}/thumbnail?${new URLSearchParams({ id, size })}`;
