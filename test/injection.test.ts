import { expect } from 'chai';
import { allOf, createToken, injectable, rootContainer } from '../core/injection.js';

const NAME = createToken<string>('test-name');
const SIZES = createToken<number>('test-sizes');

@injectable()
class Part {
  readonly isPart = true;
}

@injectable(NAME, Part, allOf(SIZES))
class Whole {
  readonly name: string;
  readonly part: Part;
  readonly sizes: readonly number[];

  constructor(name: string, part: Part, sizes: readonly number[]) {
    this.name = name;
    this.part = part;
    this.sizes = sizes;
  }
}

type Takes<T> = new (value: T) => object;

describe('injectable', () => {
  it('builds classes out of values, classes and lists in the order of registration', () => {
    const container = rootContainer.createChildContainer();
    container.register(NAME, { useValue: 'a' });
    for (const size of [2, 1]) container.register(SIZES, { useValue: size });
    const whole = container.resolve(Whole);
    expect(whole).to.include({ name: 'a' });
    expect(whole.part.isPart).to.equal(true);
    expect(whole.sizes).to.deep.equal([2, 1]);
  });

  it('rejects a dependency that is missing or of another type when it is compiled', () => {
    const check = (decorated: unknown) => expect(decorated).to.equal(undefined);
    const takesText = class {} as Takes<string>;
    const takesList = class {} as Takes<readonly number[]>;
    check(injectable(NAME)(takesText));
    check(injectable(allOf(SIZES))(takesList));
    // @ts-expect-error: nothing is given for the parameter
    check(injectable()(takesText));
    // @ts-expect-error: a class of another type
    check(injectable(Part)(takesText));
    // @ts-expect-error: one number instead of the list
    check(injectable(SIZES)(takesList));
    // @ts-expect-error: a list of texts
    check(injectable(allOf(NAME))(takesList));
  });
});
