import { expect } from 'chai';
import { openFlow } from '../../core/contract/body-flow.js';
import type { BodyStream } from '../../core/contract/index.js';

describe('the flow of a body', () => {
  for (const pushTo of [undefined, null]) {
    it(`iterates a body whose pushTo is ${pushTo}`, async () => {
      const read = async function* () {
        yield Buffer.from('part');
      };
      const body = { [Symbol.asyncIterator]: read, pushTo } as unknown as BodyStream;
      const parts: string[] = [];
      await new Promise<void>((resolve, reject) => {
        const write = (part: Uint8Array) => parts.push(String(part)) > 0;
        openFlow(body, { write, end: resolve, fail: reject }).resume();
      });
      expect(parts).to.deep.equal(['part']);
    });
  }
});
