/** The caller has hung up: there is nobody to answer, and nothing is to be written. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';

  constructor() {
    super('the caller has gone');
  }
}
