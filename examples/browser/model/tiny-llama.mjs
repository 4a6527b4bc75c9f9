// Models of the llama architecture that are made here, small enough to run anywhere. Nothing is downloaded.
//
// scriptedModel answers in a fixed way: it has no attention and no feed-forward part (their weights are zero) and its
// embeddings are one-hot or zero, so the last token alone decides on the next one. A text is a chain of tokens that
// occur nowhere else; the chat template ends each prompt with the control token that the chain of its answer begins
// with.
//
// randomModel has random weights: what it writes is noise, and what a grammar makes of noise is the grammar's work.
import { writeGGUF } from './gguf.mjs';

/** Types of tokens, as llama.cpp numbers them. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const BYTE = 6;

const START = '<|im_start|>';
const END = '<|im_end|>';

/** The chat template both have: ChatML. Tools are told in the system's text, as models with native tools are. */
const MESSAGES = `{%- if tools -%}
${START}system
You may call tools: {% for tool in tools %}{{ tool | tojson }}{% endfor %}
Answer with <tool_call>{"name": ..., "arguments": ...}</tool_call>${END}
{% endif -%}
{%- for message in messages -%}
${START}{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] -%}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor -%}
${END}
{% endfor -%}`;

/** Makes the tokens that every model has: bytes, what ASCII can print, and control tokens. */
function vocabulary(control, own) {
  const tokens = [];
  const add = (text, type, score = 0) => tokens.push({ text, type, score });
  add('<unk>', UNKNOWN);
  add('<s>', CONTROL);
  add('</s>', CONTROL);
  for (let byte = 0; byte < 256; byte++) {
    add(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, BYTE);
  }
  for (let code = 0x21; code < 0x7f; code++) add(String.fromCharCode(code), NORMAL, -code);
  add('\u2581', NORMAL, -1000); // a space
  for (const text of [START, END, ...control]) add(text, CONTROL);
  for (const text of own) add(text, USER_DEFINED, -2000);
  const ids = new Map(tokens.map(({ text }, id) => [text, id]));
  if (ids.size !== tokens.length) throw new Error('two tokens have the same text');
  return { tokens, id: (text) => ids.get(text) };
}

/** Puts a model together. @param fill gives the values of a weight by its name and shape */
function makeModel(name, { tokens, id }, template, sizes, fill) {
  const { width, layers, inner, heads } = sizes;
  const metadata = [
    ['general.architecture', 'text', 'llama'],
    ['general.name', 'text', name],
    ['llama.context_length', 'u32', 32768],
    ['llama.embedding_length', 'u32', width],
    ['llama.block_count', 'u32', layers],
    ['llama.feed_forward_length', 'u32', inner],
    ['llama.attention.head_count', 'u32', heads],
    ['llama.attention.head_count_kv', 'u32', heads],
    ['llama.attention.layer_norm_rms_epsilon', 'f32', 1e-5],
    ['llama.rope.dimension_count', 'u32', width / heads],
    ['llama.vocab_size', 'u32', tokens.length],
    ['tokenizer.ggml.model', 'text', 'llama'],
    ['tokenizer.ggml.pre', 'text', 'default'],
    ['tokenizer.ggml.tokens', 'text[]', tokens.map(({ text }) => text)],
    ['tokenizer.ggml.scores', 'f32[]', tokens.map(({ score }) => score)],
    ['tokenizer.ggml.token_type', 'i32[]', tokens.map(({ type }) => type)],
    ['tokenizer.ggml.unknown_token_id', 'u32', 0],
    ['tokenizer.ggml.bos_token_id', 'u32', 1],
    ['tokenizer.ggml.eos_token_id', 'u32', id(END)],
    ['tokenizer.ggml.add_bos_token', 'bool', true],
    ['tokenizer.ggml.add_space_prefix', 'bool', false],
    ['tokenizer.chat_template', 'text', template],
  ];
  const tensors = [];
  const weight = (tensor, ...shape) => {
    const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
    fill(tensor, shape, values);
    tensors.push({ name: `${tensor}.weight`, shape, type: 'bf16', values });
  };
  const norm = (tensor) => {
    const values = new Float32Array(width).fill(1);
    tensors.push({ name: `${tensor}.weight`, shape: [width], type: 'f32', values });
  };
  weight('token_embd', width, tokens.length);
  norm('output_norm');
  weight('output', width, tokens.length);
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    norm(`${block}.attn_norm`);
    for (const part of ['q', 'k', 'v', 'output']) weight(`${block}.attn_${part}`, width, width);
    norm(`${block}.ffn_norm`);
    weight(`${block}.ffn_gate`, width, inner);
    weight(`${block}.ffn_up`, width, inner);
    weight(`${block}.ffn_down`, inner, width);
  }
  return writeGGUF(metadata, tensors);
}

/**
 * A model that answers in a fixed way.
 * @param answers list of {when, pieces, endless}: the first whose condition, a Jinja expression over `last` (the last
 * message), holds is given. A piece is a token; a piece that is the text of another token is joined to the one before
 * it, or to the one behind it. What is endless begins again at its end.
 */
export function scriptedModel(answers) {
  const control = answers.map((_, n) => `<|answer_${n}|>`);
  const taken = new Set(vocabulary(control, []).tokens.map(({ text }) => text));
  const chains = answers.map(({ pieces }) => {
    const chain = [];
    let text = '';
    for (const piece of pieces) {
      text += piece;
      while (taken.has(text) && chain.length > 0) {
        taken.delete(chain.at(-1));
        text = chain.pop() + text;
      }
      if (taken.has(text)) continue;
      chain.push(text);
      taken.add(text);
      text = '';
    }
    return chain;
  });
  const words = vocabulary(control, chains.flat());
  const branches = answers.map(
    ({ when }, n) => `{%- ${n === 0 ? 'if' : 'elif'} ${when} -%}\n${control[n]}\n`,
  );
  const template = `${MESSAGES}{%- if add_generation_prompt -%}
${START}assistant
{% set last = messages[-1] -%}
${branches.join('')}{%- endif -%}{%- endif -%}`;

  const next = new Map();
  chains.forEach((chain, n) => {
    let from = words.id(control[n]);
    for (const text of [...chain, answers[n].endless ? chain[0] : END]) {
      next.set(from, words.id(text));
      from = words.id(text);
    }
  });
  // Each token that has a next one has a dimension of its own; all others are nothing.
  const width = Math.ceil(next.size / 64) * 64;
  const sizes = { width, layers: 1, inner: 64, heads: width / 64 };
  return makeModel('scripted', words, template, sizes, (name, _, values) => {
    [...next].forEach(([from, to], dimension) => {
      if (name === 'token_embd') values[from * width + dimension] = 1;
      if (name === 'output') values[to * width + dimension] = 2;
    });
  });
}

/** A model whose weights are random. @param seed an integer other than 0; the same one makes the same model */
export function randomModel(seed) {
  const words = vocabulary([], []);
  const template = `${MESSAGES}{%- if add_generation_prompt -%}${START}assistant
{% endif -%}`;
  let state = seed >>> 0;
  const random = () => {
    state = (state ^ (state << 13)) >>> 0;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const sizes = { width: 64, layers: 2, inner: 128, heads: 4 };
  // The last dimension is 1 for every token, and no layer writes to it: so what the output takes of it is a bias. It
  // keeps control tokens and bytes that are no ASCII out, which are no text.
  const constant = sizes.width - 1;
  const bias = words.tokens.map(({ text, type }) => {
    if (text === END) return 0.5;
    const byte = type === BYTE ? Number.parseInt(text.slice(3, 5), 16) : -1;
    return type === NORMAL || byte === 0x0a || (byte >= 0x20 && byte < 0x7f) ? 0 : -40;
  });
  return makeModel('random', words, template, sizes, (name, [rows, columns], values) => {
    const scale = 1 / Math.sqrt(rows);
    for (let i = 0; i < values.length; i++) values[i] = random() * scale;
    const setConstant = (valueOf) => {
      for (let i = 0; i < columns; i++) values[i * rows + constant] = valueOf(i);
    };
    if (name === 'token_embd') setConstant(() => 1);
    if (name === 'output') setConstant((token) => bias[token]);
    if (/attn_output|ffn_down/.test(name)) values.fill(0, constant * rows, (constant + 1) * rows);
  });
}
