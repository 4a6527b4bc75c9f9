// Makes elements.

/**
 * An element with properties and children. Anything that is not a property of the element becomes an attribute. Text is never
 * parsed as markup.
 */
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** The element of the page with an id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Keeps a scrolled box at its end while it grows, unless the visitor has scrolled up. */
export class EndKeeper {
  #box;
  #atEnd = true;
  #due = false;

  constructor(box) {
    this.#box = box;
    box.addEventListener('scroll', () => {
      this.#atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    });
  }

  /** The box has grown. */
  follow() {
    if (!this.#atEnd || this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => {
      this.#due = false;
      this.#box.scrollTop = this.#box.scrollHeight;
    });
  }

  /** Goes to the end, wherever the visitor is. */
  jump() {
    this.#atEnd = true;
    this.follow();
  }
}
