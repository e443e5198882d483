import { array, boolean, enums, nullable, number, optional, string, type } from 'superstruct';

const host = type({
  id: string(),
  version: string(),
  address: string(),
  digest: string(),
  state: enums(['starting', 'ready', 'draining', 'lost']),
  started_at: string(),
  heartbeat_at: string(),
  workers: number(),
  rejected: array(string()),
  serves: optional(boolean()),
});

/** The response to `GET /fleet`. */
export const fleetStatus = type({
  fleet: string(),
  agreed: boolean(),
  digest: nullable(string()),
  hosts: array(host),
});

export const FLEET_PATH = '/fleet';
