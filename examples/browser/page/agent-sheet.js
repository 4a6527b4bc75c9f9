// Shows what somebody else's agent may do, before it is loaded.
import { errorBlock } from './parts.js';
import { element } from './elements.js';

/**
 * Makes the sheet of an agent.
 *
 * @param agent a ForeignAgent that is open
 * @param load called when the visitor lets it run
 */
export function agentSheet(agent, load) {
  const { title, words, sections } = agent.explain();
  const run = button('Load it with this grant', 'primary', () => {
    actions.remove();
    load();
  });
  const refuse = button('Load it without a grant', 'quiet', async () => {
    refuse.disabled = true;
    sheet.append(errorBlock(await agent.refused()));
  });
  const actions = element('p', { className: 'actions' }, run, refuse);
  const sheet = element(
    'section',
    { className: 'sheet', 'aria-label': `The agent ${agent.name}` },
    element('h2', {}, title),
    element('p', {}, words),
    element(
      'div',
      { className: 'sections' },
      ...sections.map(({ heading, items }) =>
        element(
          'section',
          {},
          element('h3', {}, heading),
          element('ul', {}, ...items.map((item) => element('li', {}, item))),
        ),
      ),
    ),
    element(
      'details',
      {},
      element('summary', {}, 'The grant'),
      element('pre', {}, JSON.stringify(agent.grant, null, 2)),
    ),
    actions,
  );
  return sheet;
}

function button(label, className, act) {
  const made = element('button', { type: 'button', className }, label);
  made.addEventListener('click', act);
  return made;
}
