import { changeRequest, changeResponse, type Mutant } from './mutant.js';

/** Adapters whose bugs are seen by callers in raw mode. */
export const RAW_MODE_MUTANTS: readonly Mutant[] = [
  {
    clause: 'answer.header-values',
    defect: 'splits values at commas',
    reason: /etag must be returned unchanged/,
    adapter: changeResponse(({ headers, ...outcome }) => ({
      ...outcome,
      headers: { ...headers, etag: headers['etag']?.split(',')[0] ?? '' },
    })),
  },
  {
    clause: 'answer.header-values',
    defect: 'drops a header',
    reason: /link must be returned unchanged/,
    adapter: changeResponse(({ headers: { link: _link, ...headers }, ...outcome }) => ({
      ...outcome,
      headers,
    })),
  },
  {
    clause: 'answer.not-modified',
    defect: 'drops conditions',
    reason: /condition must arrive/,
    adapter: changeRequest(({ headers: { 'if-none-match': _tag, ...headers }, ...invocation }) => ({
      ...invocation,
      headers,
    })),
  },
  {
    clause: 'answer.not-modified',
    defect: 'drops the headers of a 304',
    reason: /etag must be returned unchanged/,
    adapter: changeResponse((outcome) =>
      outcome.status === 304 ? { ...outcome, headers: {} } : outcome,
    ),
  },
  {
    clause: 'answer.bare',
    defect: 'makes an empty body null in JSON',
    reason: /must be null or empty/,
    adapter: changeResponse((outcome) =>
      outcome.status === 404 ? { ...outcome, body: Buffer.from('null') } : outcome,
    ),
  },
  {
    clause: 'answer.bare',
    defect: 'adds a content type',
    reason: /content-type must not be added/,
    adapter: changeResponse(({ headers, ...outcome }) => ({
      ...outcome,
      headers: { 'content-type': 'application/json', ...headers },
    })),
  },
];
