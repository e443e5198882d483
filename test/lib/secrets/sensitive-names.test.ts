import { expect } from 'chai';
import { mayBeSecret } from '../../../core/lib/secrets/sensitive-names.js';

describe('settings that may be secrets', () => {
  const NAMES = [
    ...['PGPASSWORD', 'DB_PASS', 'SSHPASS', 'MYSQL_PWD', 'DBPWD', 'KEY', 'API_KEYS', 'APIKEY2'],
    ...['AWS_ACCESS_KEY_ID', 'githubToken', 'githubPat', 'GITHUB_PAT', 'AUTH', 'OAUTH_CODE'],
    ...['AUTHORIZATION', 'UNAUTHORIZED', 'SSN', 'USER_PIN', 'OTP', 'SID', 'ID_JWT', 'JWTS'],
    ...['REQUEST_SIGNATURE', 'SESSION', 'COOKIE', 'CREDS', 'DB_CRED', 'PASSWORD_SALT', 'CVV'],
  ];
  for (const name of NAMES) {
    it(`include ${name}`, () => expect(mayBeSecret(name, 'a')).to.equal(true));
  }

  const VALUES = [
    ...['user:pw@host', 'postgres://u:12/3@h', 'https://token@h', 'https://token%40h', '//t@h'],
    ...['token@host:50051', 'user:pw@tcp(host:3306)/db', 'http://a@b:c?d@h', 'Bearer abc'],
    ...['eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c', '-----BEGIN PRIVATE KEY-----\nabc'],
    ...['Server=h;Password=abc', 'host=h password = abc', 'AccountKey=abc', '--api-key=abc'],
    ...['{"password":"abc"}', 'authorization: abc', 'https://h/?token=abc'],
  ];
  for (const value of VALUES) {
    it(`include one with the value ${JSON.stringify(value)}`, () => {
      expect(mayBeSecret('A', value)).to.equal(true);
    });
  }

  const HARMLESS = [
    ...['KEYBOARD', 'KEYCLOAK_URL', 'MAX_KEYFRAMES', 'AUTHOR', 'AUTHORITY', 'PASSIVE', 'BYPASS'],
    ...['COMPASS', 'PASSENGERS', 'PATH', 'PATTERN', 'SPIN', 'SIDE', 'SALTED', 'SHIPPING', 'MODE'],
    ...['MONKEY', 'TURKEY', 'HOCKEY_TEAM', 'MICKEYS'],
  ];
  for (const name of HARMLESS) {
    it(`do not include ${name}`, () => expect(mayBeSecret(name, 'a')).to.equal(false));
  }

  const MEASURES = [
    ...['MAX_TOKENS=4096', 'sessionTimeout=30', 'TOKEN_LIMIT=1', 'PASSWORD_MIN_LENGTH=12'],
    ...['AUTH=false', 'COOKIES=on'],
  ];
  for (const setting of MEASURES) {
    const [name = '', value = ''] = setting.split('=');
    it(`do not include ${setting}`, () => expect(mayBeSecret(name, value)).to.equal(false));
  }

  it('include numbers, and texts of measures', () => {
    expect(mayBeSecret('PIN', '4096')).to.equal(true);
    expect(mayBeSecret('MAX_TOKEN', 'a')).to.equal(true);
  });

  const PLAIN = [
    ...[
      '',
      'a=b',
      'me@example.org',
      'git@github.com:org/repo',
      'https://auth.example.org:8443/a?b=c',
    ],
    ...['a note: none', '@scope/package', 'host:50051', '12:30', 'C:\\data', '{"mode":"a"}'],
  ];
  for (const value of PLAIN) {
    it(`do not include one with the value ${JSON.stringify(value)}`, () => {
      expect(mayBeSecret('A', value)).to.equal(false);
    });
  }
});
