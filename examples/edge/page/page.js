// The page: a runner whose turns run on the server.
import { connect } from 'turncore/remote';

// The address names the conversation: whoever loads it again goes on.
location.hash ||= crypto.randomUUID();
const runner = connect(`conversations/${location.hash.slice(1)}/turns`);
const [log, form, message, stop] = ['log', 'form', 'message', 'stop'].map((id) =>
  document.getElementById(id),
);
let stream;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (stream !== undefined || message.value === '') return;
  show('you', message.value);
  stream = runner.stream({ message: message.value });
  message.value = '';
  stop.disabled = false;
  try {
    let answer;
    for await (const event of stream) {
      if (event.event === 'message') {
        answer ??= show('agent');
        answer.textContent = event.full;
        if (event.isComplete) answer = undefined;
      } else if (event.event === 'toolCall' && event.isComplete) {
        show('tool', `${event.tool}: ${event.results ?? 'failed'}`);
      } else if (event.event === 'turnGateOpen') {
        ask(event);
      }
    }
  } catch (error) {
    show('error', `${error.message}`);
  } finally {
    stream = undefined;
    stop.disabled = true;
  }
});
stop.addEventListener('click', () => stream?.abort());

/** Shows a gate's question with its buttons. The digest binds the answer to what is shown. */
function ask({ id, reason, digest }) {
  const line = show('gate', `${reason} `);
  const buttons = [
    ['Approve', true],
    ['Refuse', false],
  ].map(([label, approved]) => {
    const button = document.createElement('button');
    button.textContent = label;
    button.addEventListener('click', async () => {
      for (const each of buttons) each.remove();
      try {
        await runner.gate(id)?.resolve(approved, { digest });
      } catch (error) {
        show('error', error.message);
      }
    });
    return button;
  });
  line.append(...buttons);
}

function show(kind, text = '') {
  const line = document.createElement('p');
  line.className = kind;
  line.textContent = text;
  log.append(line);
  return line;
}
