import { array, boolean, enums, nullable, number, optional, string, type } from 'superstruct';
import { type Answer, member } from './members.js';

const fleetHost = type({
  id: member(string(), 'kept under `--state`'),
  version: member(string(), 'the version of modgate'),
  address: member(string(), 'the URL that it listens on'),
  digest: member(string(), 'of its modules'),
  state: member(
    enums(['starting', 'ready', 'draining', 'lost']),
    '`starting`, `ready`, `draining`, or `lost`: without a heartbeat for 6 s; it may still serve',
  ),
  started_at: member(string(), 'the time of its last start, by the clock of the store'),
  heartbeat_at: member(string(), 'the time of its last heartbeat, by the clock of the store'),
  workers: member(number(), 'the number of its serving processes'),
  rejected: member(array(string()), 'names, or files, of modules that it rejected or that wait'),
  serves: member(
    optional(boolean()),
    'whether it serves the module or digest of the query; absent without one',
  ),
});

/** The response to `GET /fleet`. */
export const fleetStatus = type({
  fleet: member(string(), 'the name of the fleet'),
  agreed: member(
    boolean(),
    'whether all ready hosts serve the same modules; `false` while a host is lost',
  ),
  digest: member(nullable(string()), 'the common digest of the ready hosts; `null` if they differ'),
  hosts: member(array(fleetHost), 'the hosts, sorted by id'),
});

/** A host of a fleet. */
export type FleetHostStatus = Answer<typeof fleetHost>;
/** The hosts of a fleet, and whether they agree. */
export type FleetStatus = Answer<typeof fleetStatus>;
