import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { mediaIn, normalMedia } from '../../src/recording/media.js';
import { takeNotes } from '../../src/recording/notes.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('media of recorded messages', () => {
  const image = { kind: 'image', filename: 'image', source: '' };
  const document = {
    kind: 'document',
    mimeType: 'application/json',
    filename: 'document',
    source: '',
  };
  const address = 'https://x.example/d/a.png?b=/';
  const bad = 'data:image/png;base64,A';
  const cases: [part: Record<string, unknown>, normal: object, played: object][] = [
    [
      { type: 'image_url', image_url: { url: 'data:image/PNG;x=y;base64,_-8' } },
      { kind: 'image', mimeType: 'image/png', data: '/+8=' },
      { ...image, mimeType: 'image/png', data: '/+8=' },
    ],
    [
      {
        type: 'image_url',
        image_url: { url: 'DATA:image/jpg,a%62%c3%', detail: 'low' },
        other: 1,
      },
      { kind: 'image', mimeType: 'image/jpeg', data: 'YWLDJQ==', detail: 'low', other: 1 },
      { ...image, mimeType: 'image/jpeg', data: 'YWLDJQ==' },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,A A\r\nA', detail: 'auto' } },
      { kind: 'image', mimeType: 'image/png', data: 'AAA=' },
      { ...image, mimeType: 'image/png', data: 'AAA=' },
    ],
    [
      { type: 'image_url', image_url: { url: bad } },
      { kind: 'image', url: bad },
      {
        ...{ kind: 'image', mimeType: 'text/uri-list', filename: 'png;base64,A' },
        ...{ data: base64(bad), source: bad },
      },
    ],
    [
      { type: 'image_url', image_url: address },
      { kind: 'image', url: address },
      {
        ...{ kind: 'image', mimeType: 'text/uri-list', filename: 'a.png' },
        ...{ data: base64(address), source: address },
      },
    ],
    [
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'MP3' } },
      { kind: 'audio', mimeType: 'audio/mpeg', data: 'AAAA' },
      { kind: 'audio', mimeType: 'audio/mpeg', filename: 'audio', data: 'AAAA', source: '' },
    ],
    [
      {
        type: 'file',
        file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
      },
      { kind: 'document', mimeType: 'application/pdf', filename: 'a.pdf', data: 'AAAA' },
      { ...document, mimeType: 'application/pdf', filename: 'a.pdf', data: 'AAAA' },
    ],
    [
      { type: 'file', file: { file_id: 'f1', filename: ' ' } },
      { kind: 'document', file_id: 'f1', filename: ' ' },
      { ...document, data: base64('{"file":{"file_id":"f1","filename":" "},"type":"file"}') },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:,x', data: 'y' } },
      {
        kind: 'document',
        part: { type: 'image_url', image_url: { url: 'data:,x', data: 'y' } },
      },
      {
        ...document,
        data: base64('{"image_url":{"data":"y","url":"data:,x"},"type":"image_url"}'),
      },
    ],
    [
      { type: ['image_url'], image_url: 5 },
      { kind: 'document', part: { type: ['image_url'], image_url: 5 } },
      { ...document, data: base64('{"image_url":5,"type":["image_url"]}') },
    ],
  ];
  for (const [part, normal, played] of cases) {
    it(`is compared and played: ${JSON.stringify(part)}`, () => {
      assert.deepEqual(mediaIn([part, 'text', { type: 'text', text: 'x' }]), [played]);
      assert.deepEqual(normalMedia(structuredClone(part)), normal);
    });
  }

  it('are told apart from what the executor says of them', () => {
    const one = '[image media-1-2 "b\\"]", image/png]';
    const other = '[document media-0-0 ""]';
    const image = { type: 'image_url' };
    const texts: [content: unknown, message: object][] = [
      ['a', { content: 'a' }],
      [`a\n\n${one}\n${other}`, { content: 'a', stand_ins: [one, other] }],
      [other, { content: '', stand_ins: [other] }],
      [`a\n${other}`, { content: `a\n${other}` }],
      ['a\n\n[audio 0-0 "a"]', { content: 'a\n\n[audio 0-0 "a"]' }],
      [`a\n\n${other} `, { content: `a\n\n${other} ` }],
      [
        [{ text: other }, { text: one }, image],
        { content: [image], notes: [one], stand_ins: [other] },
      ],
    ];
    for (const [content, want] of texts) {
      const message = { content };
      takeNotes([message, 5]);
      assert.deepEqual(message, want);
    }
  });
});
