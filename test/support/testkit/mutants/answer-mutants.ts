import { joinBody, ProviderFailure } from '../../../../core/contract/index.js';
import {
  changeFailure,
  changeProvider,
  changeRequest,
  changeResponse,
  type Mutant,
  UTF8,
} from './mutant.js';

export const ANSWER_MUTANTS: readonly Mutant[] = [
  {
    clause: 'answer.shape',
    defect: 'returns the body as text',
    reason: /body must be bytes, pieces of them, or null/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      body: UTF8.decode(joinBody(outcome.body)) as unknown as Uint8Array,
    })),
  },
  {
    clause: 'answer.shape',
    defect: 'returns a header as a list',
    reason: /the header x-repeated must be text/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      headers: { ...outcome.headers, 'x-repeated': ['one', 'two'] as unknown as string },
    })),
  },
  {
    clause: 'answer.body',
    defect: 'parses and rebuilds the response',
    reason: /12345678901234567890/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      body: Buffer.from(JSON.stringify(JSON.parse(UTF8.decode(joinBody(outcome.body))))),
    })),
  },
  {
    clause: 'answer.not-json',
    defect: 'rejects a response that is not JSON',
    reason: /not JSON/,
    adapter: changeResponse((outcome) => {
      if (outcome.headers['content-type'] === 'application/json') return outcome;
      throw new ProviderFailure('protocol', 'not JSON');
    }),
  },
  {
    clause: 'answer.empty',
    defect: 'returns null as JSON instead of no body',
    reason: /null or empty/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      body: outcome.body ?? Buffer.from('null'),
    })),
  },
  {
    clause: 'answer.status',
    defect: 'turns an error status into a failure',
    reason: /status 500/,
    adapter: changeResponse((outcome) => {
      if (outcome.status < 500) return outcome;
      throw new ProviderFailure('unavailable', `status ${outcome.status}`);
    }),
  },
  {
    clause: 'answer.error-body',
    defect: 'drops the body of an error',
    reason: /409/,
    adapter: changeResponse((outcome) =>
      outcome.status < 400 ? outcome : { ...outcome, body: null },
    ),
  },
  {
    clause: 'answer.headers',
    defect: 'keeps the case of header names',
    reason: /Kept As It Is/,
    adapter: changeResponse(
      ({ headers: { 'x-reference': value = '', ...others }, ...outcome }) => ({
        ...outcome,
        headers: { ...others, 'X-Reference': value },
      }),
    ),
  },
  {
    clause: 'answer.headers',
    defect: 'keeps the last value of a repeated header',
    reason: /one, two/,
    adapter: changeResponse(({ headers, ...outcome }) => ({
      ...outcome,
      headers: { ...headers, 'x-repeated': headers['x-repeated']?.split(', ').at(-1) ?? '' },
    })),
  },
  {
    clause: 'answer.redirect',
    defect: 'follows a redirect',
    reason: /302/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const outcome = await good.invoke(invocation);
        const { operation } = invocation;
        const target = outcome.headers['location'];
        if (target === undefined || operation.kind !== 'http_route') return outcome;
        return good.invoke({ ...invocation, operation: { ...operation, target } });
      },
    })),
  },
  {
    clause: 'answer.at-limit',
    defect: 'rejects a body of exactly the limit',
    reason: /over 999 bytes/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      maxResponseBytes: invocation.maxResponseBytes - 1,
    })),
  },
  {
    clause: 'answer.oversize',
    defect: 'ignores the limit',
    reason: /must fail, but it succeeded/,
    adapter: changeRequest((invocation) => ({ ...invocation, maxResponseBytes: Infinity })),
  },
  {
    clause: 'answer.oversize',
    defect: 'truncates a response that is too long',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const outcome = await good.invoke({ ...invocation, maxResponseBytes: Infinity });
        return {
          ...outcome,
          body: joinBody(outcome.body).subarray(0, invocation.maxResponseBytes),
        };
      },
    })),
  },
  {
    clause: 'answer.malformed',
    defect: 'throws errors of its library',
    reason: /must throw a ProviderFailure, it threw Error: Parse Error/,
    adapter: changeFailure(() => new Error('Parse Error')),
  },
  {
    clause: 'answer.cut-short',
    defect: 'returns a truncated response as complete',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch((failure: ProviderFailure) => {
          if (failure.status === null) throw failure;
          return { status: failure.status, headers: {}, body: Buffer.from('{"cut":') };
        }),
    })),
  },
];
