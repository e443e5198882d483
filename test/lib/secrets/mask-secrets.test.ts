import { expect } from 'chai';
import fc from 'fast-check';
import {
  createSecretMask,
  joinMasks,
  MASK,
  mayBeCut,
  shortenMasked,
} from '../../../core/lib/secrets/mask-secrets.js';

const SECRETS = [
  'dev-service:a-caller:use',
  'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl',
  'a name:päss wörd/+=&%',
  'ключ-от-дома',
] as const;

/** What a writer of percent-encoding may do with each byte. */
const STYLES = ['as it is', 'lower case', 'upper case', 'twice'] as const;
type Style = (typeof STYLES)[number];

function encodeByte(byte: number, style: Style): string {
  const hex = `%${byte.toString(16).padStart(2, '0')}`;
  // A byte beyond ASCII and a percent sign have to be encoded.
  if (style === 'as it is' && byte < 0x80 && byte !== 0x25) return String.fromCharCode(byte);
  if (style === 'upper case') return hex.toUpperCase();
  return style === 'twice' ? hex.replace('%', '%25') : hex;
}

const encode = (text: string, styles: readonly Style[]) =>
  [...Buffer.from(text)]
    .map((byte, index) => encodeByte(byte, styles[index % styles.length] ?? 'lower case'))
    .join('');

/** Neither is part of an encoding. */
const around = (text: string) => `content-type "${text}" 75 %`;
const hidden = around(MASK);

describe('the mask of secrets', () => {
  const styles = fc.array(fc.constantFrom(...STYLES), { minLength: 1, maxLength: 40 });

  for (const secret of SECRETS) {
    const mask = createSecretMask([secret]);

    it(`finds ${JSON.stringify(secret)} as it is, more than once`, () => {
      expect(mask(around(secret))).to.equal(hidden);
      expect(mask(`${secret}, ${secret}`)).to.equal(`${MASK}, ${MASK}`);
      expect(mask(around(encodeURIComponent(secret)))).to.equal(hidden);
    });

    it(`finds ${JSON.stringify(secret)} with any characters encoded in percent`, () => {
      fc.assert(
        fc.property(styles, (chosen) => {
          expect(mask(around(encode(secret, chosen)))).to.equal(hidden);
        }),
      );
    });

    it(`finds ${JSON.stringify(secret)} in base64 at any place, also encoded in percent`, () => {
      fc.assert(
        fc.property(fc.string({ maxLength: 9 }), styles, (before, chosen) => {
          for (const form of ['base64', 'base64url'] as const) {
            const text = Buffer.from(`${before}${secret}!`).toString(form);
            expect(mask(around(text))).to.equal(hidden);
            expect(mask(around(encode(text, chosen)))).to.equal(hidden);
            expect(mask(`text/${text}`)).to.equal(MASK);
          }
        }),
      );
    });
  }

  it('finds the decoded form of a cookie that is encoded', () => {
    const mask = createSecretMask(['s%3Aa-session.signature%2F1']);
    expect(mask(around('s:a-session.signature/1'))).to.equal(hidden);
    expect(mask(around('s%3aa-session.signature/1'))).to.equal(hidden);
  });

  it('finds a space as forms write it', () => {
    expect(createSecretMask(['a long password'])(around('a+long+password'))).to.equal(hidden);
  });

  it('finds the start of a long secret, however much of it is there', () => {
    const secret = Array.from({ length: 200 }, (_, index) => `part-${index}.`).join('');
    const mask = createSecretMask([secret]);
    for (const length of [64, 65, 300, secret.length]) {
      expect(mask(around(secret.slice(0, length)))).to.equal(hidden);
    }
  });

  it('leaves nothing of secrets that overlap', () => {
    const mask = createSecretMask(['Bearer abc', 'abcdef', 'cdefgh']);
    expect(mask(around('Bearer abcdefgh'))).to.equal(hidden);
  });

  it('leaves other texts as they are', () => {
    const mask = createSecretMask(SECRETS);
    for (const text of [
      '',
      '100%',
      '%zz%4',
      'a%2Fb',
      'dev-service:a-caller:us',
      'AAAA/BBBB==',
      'é',
    ]) {
      expect(mask(text)).to.equal(text);
    }
    expect(createSecretMask(['', ''])(around('a'))).to.equal(around('a'));
  });

  it('removes a short secret as a word alone', () => {
    const mask = createSecretMask(['a', 'abc']);
    expect(mask('unavailable: abcd, aGFiY2g=')).to.equal('unavailable: abcd, aGFiY2g=');
    expect(mask('key=abc&x=%61bc (a)')).to.equal(`key=${MASK}&x=${MASK} (${MASK})`);
    expect(createSecretMask(['abcd'])('xabcdx aGFiY2Ro')).to.equal(`x${MASK}x ${MASK}`);
  });
});

describe('the mask of a text that may be cut', () => {
  const mask = createSecretMask(SECRETS);
  const before = '. '.repeat(100);

  for (const secret of SECRETS) {
    it(`removes each start of ${JSON.stringify(secret)} at the end, in any form`, () => {
      const base64 = Buffer.from(secret).toString('base64');
      for (const form of [secret, encodeURIComponent(secret), base64]) {
        for (let length = 27; length < form.length; length += 1) {
          const text = `${before}${form.slice(0, length)}`;
          const shown = mask(text, true);
          expect(shown, text).to.equal(`${before}${MASK}`);
        }
      }
      for (let length = 9; length < secret.length; length += 1) {
        expect(mask(`${before}${secret.slice(0, length)}`, true)).to.equal(`${before}${MASK}`);
      }
    });

    it(`shortens a text without a part of ${JSON.stringify(secret)}`, () => {
      for (let maxLength = 190; maxLength < 230; maxLength += 1) {
        const shown = shortenMasked(`${before}${secret}, and more`, maxLength, mask);
        expect(`${before}${MASK}, and more`.startsWith(shown), shown).to.equal(true);
      }
    });
  }

  it('keeps the end of a short text, and words with which a secret begins', () => {
    expect(mayBeCut('made by dev-service')).to.equal(false);
    const words = createSecretMask([
      'password-of-crm-9282',
      'https://hooks.internal/T0',
      'postgres',
    ]);
    for (const end of ['invalid password', 'connect by https://', 'the user post']) {
      expect(words(`${before}${end}`, true)).to.equal(`${before}${end}`);
    }
  });

  it('removes a start of a secret although another secret before it is removed', () => {
    const host = 'h'.repeat(180);
    const joined = joinMasks(createSecretMask([host]), createSecretMask(['T6f4a372352f0c0ffee']));
    const text = `for ${host} with the token T6f4a372352f0`;
    expect(joined(text, mayBeCut(text))).to.equal(`for ${MASK} with the token ${MASK}`);
  });
});
