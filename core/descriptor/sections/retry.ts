import { ANY_CHANGE, defineSection } from '../section.js';
import { amount, count, filledMapping } from '../struct-members.js';

export const retry = defineSection({
  struct: filledMapping('retry', 'Retries of calls that never reached the provider.', {
    attempts: count(2, [0, 10], 'Retries at most, in addition to the first attempt.'),
    budget: amount(0.2, [0, 1], 'What each call adds to the bucket from which a retry takes 1.'),
  }),
  isLimit: true,
  isFreeChange: ANY_CHANGE,
});
