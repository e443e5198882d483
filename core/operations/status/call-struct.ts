import {
  array,
  type Describe,
  enums,
  type Infer,
  nullable,
  number,
  optional,
  type Struct,
  string,
  type,
} from 'superstruct';
import {
  CALL_MEMBERS,
  type CallMember,
  type CallRecord,
  ENTRY_MEMBERS,
  REJECTION_MEMBERS,
  STREAM_MEMBERS,
} from '../../contract/call-record.js';
import { member } from '../../contract/members.js';

type MemberStruct = Struct<unknown>;

const KINDS = {
  text: string(),
  integer: number(),
  number: number(),
  errors: array(type({ field: nullable(string()), reason: string() })),
} as const;

function toStructs(
  members: Readonly<Record<string, CallMember>>,
  finish: (struct: MemberStruct) => MemberStruct,
): Record<string, MemberStruct> {
  return Object.fromEntries(
    Object.entries(members).map(([name, { kind, isNullable }]) => {
      const struct = KINDS[kind] as unknown as MemberStruct;
      return [name, finish(isNullable ? nullable(struct) : struct)];
    }),
  );
}

const MEMBERS = {
  ...toStructs(CALL_MEMBERS, (struct) => struct),
  ...toStructs({ ...STREAM_MEMBERS, ...ENTRY_MEMBERS, ...REJECTION_MEMBERS }, optional),
};

/** A call as `GET /calls` lists it, without captured bodies. */
const callEntry = type(MEMBERS) as unknown as Describe<CallEntry>;

export type CallEntry = Omit<CallRecord, 'response_body'>;

/** The response to `GET /calls`. */
export const callList = type({
  calls: member(array(callEntry), '[records](call-record.md), newest first'),
  next_cursor: member(
    nullable(string()),
    'the `cursor` of the next page; `null` if no older call matches',
  ),
  hosts: member(
    optional(enums(['all', 'one'])),
    'in a fleet, whether the calls are those of `all` hosts or of `one`',
  ),
});

const verdict = type({ status: nullable(number()), detail: string() });

export interface ExplainedCall extends CallEntry {
  /** The current verdict, with `now=true`; `null` if it is unknown. */
  readonly now?: { readonly verdict: Infer<typeof verdict> } | null;
}

const explainedCall = type({
  ...MEMBERS,
  now: optional(nullable(type({ verdict }))),
}) as unknown as Describe<ExplainedCall>;

/** The response to `GET /explain?request_id=`. */
export const explainedCalls = type({ calls: array(explainedCall) });
