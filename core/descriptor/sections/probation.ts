import { optionally } from '../../contract/described.js';
import { ANY_CHANGE, defineSection } from '../section.js';
import { amount, count, MANY, mapping, seconds } from '../struct-members.js';

const ONE_DAY_SECONDS = 86_400;

const members = mapping(
  'probation',
  'Rolls back a new version if too many of its first calls end in 502. Without it, no version is rolled back.',
  {
    seconds: seconds(30, [1, ONE_DAY_SECONDS], 'How long a new version is observed.'),
    max_error_rate: amount(
      0.05,
      [0, 1],
      'Share of 502 responses above which it is rolled back, 0 to 1.',
    ),
    min_calls: count(10, [1, MANY], 'Calls before the share is considered.'),
  },
);

export const probation = defineSection({
  struct: optionally(members, {}),
  isFreeChange: ANY_CHANGE,
});
