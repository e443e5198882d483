import { array, type Infer, nullable, number, string, type } from 'superstruct';

/** The fields of `GET /calls` that the commands use. */
const callEntry = type({
  at: string(),
  request_id: string(),
  module: nullable(string()),
  method: string(),
  route: nullable(string()),
  status: number(),
  failure: nullable(string()),
  actor: nullable(string()),
  duration_ms: number(),
  provider_ms: nullable(number()),
  attempts: number(),
});

export type CallEntry = Infer<typeof callEntry>;

export const callList = type({ calls: array(callEntry), next_cursor: nullable(string()) });
