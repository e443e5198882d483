import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { readBody, readStart, takeArrived } from '../../../core/http/request/body.js';
import { LazyAbortController } from '../../../core/lib/lazy-abort-controller.js';
import { HeldMemory } from '../../../core/provider/held-memory.js';
import { MemoryBudget } from '../../../core/provider/memory-budget.js';

const LIMIT = 1024;

describe('body that arrives with its head', () => {
  const arrive = (body: string, { isComplete = true, headers = {} } = {}) => {
    const request = new IncomingMessage(new Socket());
    request.headers = { 'content-length': String(body.length), ...headers };
    request.push(Buffer.from(body));
    request.complete = isComplete;
    if (isComplete) request.push(null);
    const held = new HeldMemory(
      new MemoryBudget({ memoryBudget: LIMIT, actorBudget: null, workers: null }),
    );
    const limits = { held, limit: LIMIT, timeoutMs: 1000, signal: new LazyAbortController() };
    return { request, response: new ServerResponse(request), limits };
  };
  /** Returns the error of reading, at once or later. */
  const errorOf = async (read: () => unknown): Promise<unknown> => {
    try {
      await read();
    } catch (error) {
      return error;
    }
    return expect.fail('the body was read');
  };
  const chunked = { 'content-length': undefined, 'transfer-encoding': 'chunked' };

  it('is returned without a promise and a listener, and its bytes are counted', () => {
    const { request, response, limits } = arrive('{"a":1}');
    const before = request.eventNames();
    expect(String(readBody(request, response, limits))).to.equal('{"a":1}');
    expect(request.eventNames()).to.deep.equal(before);
    expect(limits.held.bytes).to.equal(7);
  });

  it('is joined from its parts', () => {
    const { request, limits } = arrive('{"a"', { isComplete: false, headers: chunked });
    request.push(Buffer.from(':1}'));
    request.complete = true;
    request.push(null);
    expect(String(takeArrived(request, limits))).to.equal('{"a":1}');
  });

  it('is empty if it was announced without bytes', () => {
    const { request, limits } = arrive('', { headers: chunked });
    expect(takeArrived(request, limits)).to.have.length(0);
  });

  it('is awaited if its rest has not arrived', async () => {
    const { request, response, limits } = arrive('{"a"', { isComplete: false, headers: chunked });
    const reading = readBody(request, response, limits);
    expect(reading).to.be.a('promise');
    request.push(':1}');
    request.push(null);
    expect(String(await reading)).to.equal('{"a":1}');
  });

  it('is rejected beyond a memory budget', async () => {
    const { request, limits } = arrive('a'.repeat(100));
    limits.held.reserve(LIMIT - 99);
    const error = await errorOf(() => takeArrived(request, limits));
    expect(error).to.have.property('name', 'RejectedCall');
    expect(limits.held.bytes).to.equal(LIMIT - 99);
  });

  it('is rejected beyond the limit, also without an announced length', async () => {
    for (const headers of [{}, chunked]) {
      const { request, response, limits } = arrive('a'.repeat(LIMIT + 1), { headers });
      const error = await errorOf(() => readBody(request, response, limits));
      expect(error).to.include({ code: 'validation_failed', status: 400 });
    }
  });

  it('is left to be streamed beyond the length that is held', async () => {
    const { request, response, limits } = arrive('a'.repeat(9), { headers: chunked });
    const start = { ...limits, holdBytes: 8 };
    expect(takeArrived(request, start)).to.equal(null);
    expect(await readStart(request, response, start)).to.have.property('isWhole', false);
  });

  it('is not taken from a request that was aborted', async () => {
    const { request, response, limits } = arrive('{}');
    limits.signal.abort();
    const error = await errorOf(() => readBody(request, response, limits));
    expect(error).to.have.property('name', 'ClientClosed');
  });

  it('is not taken before the client received 100 Continue', () => {
    const { request, limits } = arrive('{}', { headers: { expect: '100-continue' } });
    expect(takeArrived(request, limits)).to.equal(null);
  });
});
