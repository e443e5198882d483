import { array, nullable, number, string, type } from 'superstruct';
import { type Answer, actorStruct, member } from './members.js';

const auditRow = type({
  id: member(number(), 'the number of the row, from 1, without gaps'),
  at: member(string(), 'ISO 8601, UTC, by the clock of the host that wrote it'),
  actor: member(actorStruct, 'who wrote'),
  module: member(string(), 'the name under which the module is configured'),
  permission: member(string(), 'that the actor used'),
  operation: member(string(), 'such as `config_write` or `admin_action_invoke`'),
  target: member(string(), '`service/key` of a write, the name of an action'),
  outcome: member(string(), '`ok` or `failed`'),
  request_id: member(string(), 'the id of the request'),
  correlation_id: member(string(), 'the id that all requests of one task share'),
  value_digest: member(
    nullable(string()),
    '`sha256:` or, of a sensitive value, `hmac-sha256:`, and hex; over the RFC 8785 form',
  ),
  prev: member(string(), '`hash` of the previous row; 64 zeros in the first'),
  hash: member(string(), 'SHA-256 in hex over the RFC 8785 form of all fields above'),
});

/** The response to `GET /audit`. */
export const auditPage = type({
  rows: member(array(auditRow), 'oldest first'),
  next_after: member(nullable(number()), 'the `after` of the next page; `null` on the last'),
});

/** One row of the audit chain, as `GET /audit` and `modgate audit --json` show it. */
export type AuditRow = Answer<typeof auditRow>;

/** A page of the audit chain. */
export type AuditPage = Answer<typeof auditPage>;
