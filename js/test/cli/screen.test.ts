import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Output, Screen } from '../../src/cli/screen.js';
import { TurncoreError } from '../../src/errors.js';

class Terminal implements Output {
  text = '';
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }
}

describe('a screen', () => {
  it('keeps the answer apart from everything else', () => {
    const out = new Terminal(false);
    const err = new Terminal(false);
    const screen = new Screen(out, err, {});
    screen.busy('waiting');
    screen.whisper('a thou');
    screen.whisper('ght');
    screen.note('cyan', '→ tool');
    screen.print('the ans');
    screen.note('yellow', 'warning');
    screen.print('wer');
    screen.line();
    screen.close();
    assert.equal(out.text, 'the answer\n');
    assert.equal(err.text, 'a thought\n→ tool\nwarning\n');
  });

  it('does not let text move the cursor of a terminal', () => {
    const out = new Terminal(true);
    const err = new Terminal(true);
    const screen = new Screen(out, err, { NO_COLOR: '1' });
    screen.print('a\x1b[2Jb\tc\n');
    screen.note('red', 'x\r\x9by');
    assert.equal(out.text, 'a\ufffd[2Jb\tc\n');
    assert.equal(err.text, 'x\ufffd\ufffdy\n');
  });

  it('leaves what goes into a pipe as it is', () => {
    const out = new Terminal(false);
    new Screen(out, new Terminal(false), {}).print('\x1b[2J\r\n');
    assert.equal(out.text, '\x1b[2J\r\n');
  });

  it('uses colours on a terminal unless asked not to', () => {
    const painted = (env: Record<string, string>): string => {
      const err = new Terminal(true);
      new Screen(new Terminal(true), err, env).note('red', 'x');
      return err.text;
    };
    assert.equal(painted({}), '\x1b[31mx\x1b[39m\n');
    assert.equal(painted({ NO_COLOR: '1' }), 'x\n');
    assert.equal(painted({ TERM: 'dumb' }), 'x\n');
  });

  it('begins a line of its own where both streams are one terminal', () => {
    const both = new Terminal(true);
    const screen = new Screen(both, both, { NO_COLOR: '1' });
    screen.print('answer');
    screen.note('dim', 'note');
    screen.whisper('thought');
    screen.print('more');
    screen.close();
    assert.equal(both.text, 'answer\nnote\nthought\nmore\n');
  });

  it('says behind an answer that it broke off, on a terminal only', () => {
    const shown = (isTTY: boolean, text: string): string => {
      const out = new Terminal(isTTY);
      const screen = new Screen(out, new Terminal(false), {});
      screen.print(text);
      screen.aside('(broken off)');
      screen.line();
      return out.text;
    };
    assert.equal(shown(true, 'Hel'), 'Hel (broken off)\n');
    assert.equal(shown(true, 'Hel\n'), 'Hel\n(broken off)\n');
    assert.equal(shown(false, 'Hel'), 'Hel\n');
  });

  it('tells of errors with code, cause and what to do', () => {
    const err = new Terminal(false);
    const cause = TurncoreError.of('E_HTTP_TRANSPORT', 'no route');
    const error = new TurncoreError('E_OTHER', 'it failed', { cause, help: 'try again' });
    new Screen(new Terminal(false), err, {}).failure(error);
    assert.match(
      err.text,
      /^error: E_OTHER: it failed\n {2}because of E_HTTP_TRANSPORT: .*no route\n {2}try again\n$/,
    );
  });
});
