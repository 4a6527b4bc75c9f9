// The browser's own model.
import { promptAPIEngine } from '/turncore/models.min.js';

const create = {
  expectedInputs: [{ type: 'text', languages: ['en'] }],
  expectedOutputs: [{ type: 'text', languages: ['en'] }],
};

/** Whether it can be used without a download. What is not there at all is said when it is loaded. */
export async function storedPromptAPI() {
  const availability = (await globalThis.LanguageModel?.availability(create)) ?? 'unavailable';
  return availability === 'available' || availability === 'unavailable';
}

/** An engine on it. */
export function browserModel(onProgress) {
  return promptAPIEngine({ onProgress, create });
}
