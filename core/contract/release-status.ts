import { array, enums, nullable, number, record, string, type } from 'superstruct';
import { type Answer, actorStruct, member } from './members.js';

/** Calls and failed calls of each changed module, over all hosts that serve the canary. */
const canaryCounts = record(string(), type({ calls: number(), failed: number() }));

const entry = {
  release: member(string(), 'its digest'),
  base: member(nullable(string()), 'the release that it is based on; `null` for the first one'),
  author: member(actorStruct, 'the actor that published it'),
  created_at: member(string(), 'the time of its publication, by the clock of the store'),
  note: member(string(), 'the note of its author; may be empty'),
  least_version: member(string(), 'the oldest version of modgate that serves it'),
  files: member(number(), 'the number of its files'),
  bytes: member(number(), 'the total length of its files'),
  verdict: member(
    nullable(
      type({
        outcome: enums(['released', 'failed', 'unproven', 'aborted']),
        reason: string(),
        modules: canaryCounts,
      }),
    ),
    'the result of its canary; `null` without one, or during its trial',
  ),
};

const releaseEntry = type(entry);

/** The response to `GET /releases`. */
export const releasesStatus = type({
  active: member(nullable(string()), 'the release that hosts serve; `null` for none'),
  canary: member(
    nullable(
      type({
        release: string(),
        since: string(),
        until: member(string(), 'the latest time of the decision'),
        hosts: member(array(string()), 'the ids of the hosts that try it'),
        modules: member(canaryCounts, 'the calls, and the failed ones, of each changed module'),
      }),
    ),
    'the release that some hosts try',
  ),
  releases: member(array(releaseEntry), 'newest first'),
  hosts: member(
    array(
      type({
        host: string(),
        release: member(nullable(string()), 'the last release that it served'),
        problem: member(
          nullable(string()),
          'why it does not serve the expected release, or a module of it',
        ),
      }),
    ),
    'the hosts that have followed releases',
  ),
});

/** The response to `GET /releases/{id}`. */
export const releaseContent = type({ ...entry, content: record(string(), string()) });

/** A release of a fleet. */
export type ReleaseEntry = Answer<typeof releaseEntry>;

/** The releases of a fleet, and the state of a canary. */
export type ReleasesStatus = Answer<typeof releasesStatus>;
