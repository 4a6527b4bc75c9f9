// What the agent can do. Tools run in the page, beside the module; the calculator runs inside it.
import { calculatorTool, Tool } from '/turncore/turncore.min.js';

const skies = [
  'clear sky',
  'light clouds',
  'overcast',
  'light rain',
  'a thunderstorm',
  'snow',
  'fog',
];

export const weather = new Tool({
  name: 'get_weather',
  description: 'Tells the weather of a city. It is made up, and the same for the same city.',
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 1, maxLength: 100, description: 'Such as Oslo' },
    },
    required: ['city'],
    additionalProperties: false,
  },
  async handler({ city }, ctx) {
    await pause(400, ctx.abortSignal);
    const seed = hash(city.trim().toLowerCase());
    const sky = skies[seed % skies.length];
    const celsius = sky === 'snow' ? -((seed >>> 8) % 12) : 2 + ((seed >>> 8) % 28);
    return `${city.trim()}: ${celsius} °C, ${sky}, wind ${(seed >>> 16) % 40} km/h`;
  },
});

// The simulated model calls a tool whose name it reads, such as in "Calculate 1 + 1".
const { description, inputSchema, handler, trusted } = calculatorTool();
export const calculator = new Tool({
  name: 'calculate',
  description,
  inputSchema,
  handler,
  trusted,
});

export const clock = new Tool({
  name: 'current_time',
  description: 'Tells date and time in a time zone.',
  inputSchema: {
    type: 'object',
    properties: {
      timezone: { type: 'string', description: 'Such as Asia/Tokyo; the name of its city will do' },
    },
    required: ['timezone'],
    additionalProperties: false,
  },
  handler({ timezone }) {
    const timeZone = zoneOf(timezone);
    const format = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'full',
      timeStyle: 'long',
      timeZone,
    });
    return `${timeZone}: ${format.format(new Date())}`;
  },
});

const eraser = new Tool({
  name: 'delete_note',
  description: 'Deletes a note. The visitor is asked first.',
  inputSchema: {
    type: 'object',
    properties: { note: { type: 'string', minLength: 1, maxLength: 100 } },
    required: ['note'],
    additionalProperties: false,
  },
  async handler({ note }, ctx) {
    const approved = await ctx.waitFor({
      id: crypto.randomUUID(),
      reason: `Delete the note ${JSON.stringify(note)}?`,
      payload: { tool: 'delete_note', args: { note } },
      createdAt: Date.now(),
      schema: { type: 'boolean' },
    });
    // There are no notes in this page.
    return approved ? `The note ${note} is gone.` : `The visitor refused: the note ${note} stays.`;
  },
});

/** All of them. */
export const tools = [weather, calculator, clock, eraser];

/** The time zone of that name, or the one whose city has it. */
function zoneOf(text) {
  const wanted = text.trim().toLowerCase().replaceAll(' ', '_');
  const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
  const zone = zones.find((name) => {
    const lower = name.toLowerCase();
    return lower === wanted || lower.split('/').at(-1) === wanted;
  });
  if (zone === undefined) throw new Error(`there is no time zone ${JSON.stringify(text)}`);
  return zone;
}

/** FNV-1a. */
function hash(text) {
  let sum = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) sum = Math.imul(sum ^ byte, 0x01000193);
  return sum >>> 0;
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
