import { array, number, string, type } from 'superstruct';
import { type Answer, member } from './members.js';

const routeTotals = type({
  route: member(string(), '`GET /items/{id}`'),
  same: member(number(), 'copies whose response is the same'),
  different: member(number(), 'copies whose response differs'),
  failed: member(number(), 'copies without a comparable response'),
  dropped: member(number(), 'copies that were not made, or not compared, to limit the load'),
});

const foundDifference = type({
  at: member(string(), 'when it was found'),
  route: member(string(), '`GET /items/{id}`'),
  live: member(number(), 'the status of the live provider'),
  candidate: member(number(), 'the status of the candidate'),
  request_id: member(string(), 'of the live call'),
  pointers: member(array(type({ pointer: string(), kind: string() })), 'where the bodies differ'),
});

/** The response to `GET /candidate`. */
export const candidateReport = type({
  module: member(string(), 'the name of the module'),
  totals: member(array(routeTotals), 'the results of each route; empty without a candidate'),
  differences: member(array(foundDifference), 'the last 100, newest first'),
});

/** The results of the candidate of one module. */
export type CandidateReport = Omit<Answer<typeof candidateReport>, 'module'>;
/** Two different responses to one request; it never contains a value of either. */
export type FoundDifference = Answer<typeof foundDifference>;
