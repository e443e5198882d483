import { array, type Infer, nullable, number, optional, string, type } from 'superstruct';

/** The fields of `GET /calls` that the commands use. */
const callEntry = type({
  at: string(),
  request_id: string(),
  module: nullable(string()),
  method: string(),
  route: nullable(string()),
  status: number(),
  failure: nullable(string()),
  // Older hosts have none.
  failure_detail: optional(nullable(string())),
  actor: nullable(string()),
  duration_ms: number(),
  provider_ms: nullable(number()),
  attempts: number(),
  endpoint: nullable(string()),
});

export type CallEntry = Infer<typeof callEntry>;

/** What `GET /explain?request_id=` returns. */
export const explainedCalls = type({ calls: array(callEntry) });

export const callList = type({ calls: array(callEntry), next_cursor: nullable(string()) });
