// Arrow keys among the cards: one of them is in the order of the Tab key, the arrows choose which.

const cardsOf = (list) => [...list.querySelectorAll(".card")];

// The first card can be reached by Tab.
export function makeReachable(list) {
  const cards = cardsOf(list);
  if (cards.length && !cards.some((card) => card.tabIndex === 0)) cards[0].tabIndex = 0;
}

export function moveWithArrows(results) {
  results.addEventListener("focusin", ({ target }) => {
    if (!target.classList?.contains("card")) return;
    for (const card of cardsOf(target.closest("ul"))) card.tabIndex = card === target ? 0 : -1;
  });
  results.addEventListener("keydown", (event) => {
    if (!event.target.classList?.contains("card") || event.ctrlKey || event.metaKey || event.altKey) return;
    const cards = cardsOf(event.target.closest("ul"));
    const next = target(event.key, cards, cards.indexOf(event.target));
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
}

function target(key, cards, at) {
  const here = cards[at].getBoundingClientRect();
  const middle = (card) => card.getBoundingClientRect().left;
  const sameColumn = (card) => Math.abs(middle(card) - here.left) < 2;
  const above = (card) => card.getBoundingClientRect().bottom <= here.top + 1;
  const below = (card) => card.getBoundingClientRect().top >= here.bottom - 1;
  switch (key) {
    case "ArrowRight":
      return cards[at + 1];
    case "ArrowLeft":
      return cards[at - 1];
    case "ArrowDown":
      return cards.find((card) => sameColumn(card) && below(card)) ?? (cards.some(below) ? cards.at(-1) : null);
    case "ArrowUp":
      return cards.findLast((card) => sameColumn(card) && above(card));
    case "Home":
      return cards[0];
    case "End":
      return cards.at(-1);
    default:
      return null;
  }
}
