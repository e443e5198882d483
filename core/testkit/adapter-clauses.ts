import type { AdapterClause } from './clause.js';
import { ADMINISTRATION } from './clauses/administration.js';
import { ANSWER } from './clauses/answer.js';
import { CALLS } from './clauses/calls.js';
import { CLOSING } from './clauses/closing.js';
import { DECLARATION } from './clauses/declaration.js';
import { ENDPOINTS } from './clauses/endpoints.js';
import { FAILURES } from './clauses/failures.js';
import { LIFETIME, OPENING } from './clauses/lifetime.js';
import { PHASES } from './clauses/phases.js';
import { RAW_MODE } from './clauses/raw-mode.js';
import { READINESS } from './clauses/readiness.js';
import { RECEIVED } from './clauses/received.js';
import { REPORTS } from './clauses/reports.js';
import { REQUEST } from './clauses/request.js';
import { SIGNAL } from './clauses/signal.js';
import { STREAMED_REQUESTS } from './clauses/streamed-requests.js';
import { STREAMS } from './clauses/streams.js';
import { UPGRADE } from './clauses/upgrade.js';

/** Every clause about adapters, in the order of the scorecard. */
export const ADAPTER_CLAUSES: readonly AdapterClause[] = [
  ...DECLARATION,
  ...OPENING,
  ...READINESS,
  ...REQUEST,
  ...ANSWER,
  ...RECEIVED,
  ...RAW_MODE,
  ...STREAMS,
  ...STREAMED_REQUESTS,
  ...UPGRADE,
  ...FAILURES,
  ...PHASES,
  ...SIGNAL,
  ...CALLS,
  ...REPORTS,
  ...ADMINISTRATION,
  ...ENDPOINTS,
  ...CLOSING,
  ...LIFETIME,
];
