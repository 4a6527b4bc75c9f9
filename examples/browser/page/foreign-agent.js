// Agents that somebody else wrote: one file each, which is loaded with a grant and can do nothing else.
import { explain, loadAgent, readManifest } from '/turncore/agents.min.js';

/** What the visitor can say to an agent, and what its gates take for a yes or a no. Both its author says. */
const KNOWN = {
  research: {
    suggestions: [
      { text: 'Search for the moons of Jupiter' },
      {
        label: 'Publish a report: it asks you',
        text: 'Publish "Fire and ice." as the report "Moons"',
      },
    ],
    decision: (approved) => ({ publish: approved }),
  },
};

/** An agent that the server offers. Nothing of its file runs before `load`. */
export class ForeignAgent {
  name;
  grant;
  #address;
  #bytes;
  #manifest;

  /** @param offer of the server: the agent's name, the address of its file, its grant */
  constructor({ name, file, grant }) {
    this.name = name;
    this.grant = grant;
    this.#address = file;
  }

  /** Reads the file. */
  async open() {
    if (this.#bytes !== undefined) return;
    const response = await fetch(this.#address);
    if (!response.ok) throw new Error(`${this.#address}: HTTP status ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    this.#manifest = readManifest(bytes);
    this.#bytes = bytes;
  }

  get bytes() {
    return this.#bytes.length;
  }

  /**
   * Says what the agent asks for, and what it can do with its grant and what it cannot.
   *
   * @returns its name with its version, its author's words, and sentences by their headings
   */
  explain() {
    const [about, ...granted] = sectionsOf(explain(this.#manifest, this.grant));
    const asked = sectionsOf(explain(this.#manifest)).filter(({ heading }) =>
      heading.startsWith('It asks for'),
    );
    const first = granted.findIndex(({ heading }) => !heading.startsWith('It brings'));
    const [, title, words] = /^(.*?), in (the words .*)$/.exec(about.heading);
    return { title, words: `In ${words}`, sections: granted.toSpliced(first, 0, ...asked) };
  }

  /**
   * Loads it. @param options of `loadAgent`, but for the grant
   *
   * @throws TurncoreError for what the grant lacks
   */
  load(options) {
    return loadAgent(this.#bytes, { ...options, grant: this.grant });
  }

  /** Tries to load it without a grant. @returns the error that refuses it */
  async refused() {
    try {
      await loadAgent(this.#bytes);
    } catch (error) {
      return error;
    }
    throw new Error(`${this.name} asks for nothing`);
  }

  get suggestions() {
    return KNOWN[this.name]?.suggestions ?? [];
  }

  decision(approved) {
    return KNOWN[this.name]?.decision(approved) ?? approved;
  }
}

/** The parts of an explanation, which empty lines separate: a heading, and items if it has any. */
function sectionsOf(text) {
  return text
    .trimEnd()
    .split('\n\n')
    .map((part) => {
      const [heading, ...items] = part.split('\n');
      return { heading: heading.replace(/:$/, ''), items: items.map((item) => item.slice(2)) };
    });
}
