import { nkeys } from '@nats-io/transport-node';

type KeyPair = ReturnType<typeof nkeys.createUser>;

interface JwtSetup {
  /** Lines of the server's configuration. */
  readonly config: string;
  /** A credentials file of a user of its account. */
  readonly creds: string;
}

/** An operator, an account and a user, as `nsc` would make them (ADR-14 of NATS). */
export function createJwtSetup(): JwtSetup {
  const operator = nkeys.createOperator();
  const account = nkeys.createAccount();
  const user = nkeys.createUser();
  const limits = { subs: -1, data: -1, payload: -1 };
  const accountLimits = {
    ...limits,
    imports: -1,
    exports: -1,
    wildcards: true,
    conn: -1,
    leaf: -1,
  };
  const operatorJwt = sign(operator, operator, { type: 'operator', version: 2 });
  const accountJwt = sign(operator, account, {
    type: 'account',
    version: 2,
    limits: accountLimits,
  });
  const userJwt = sign(account, user, { type: 'user', version: 2, ...limits, pub: {}, sub: {} });
  const seed = new TextDecoder().decode(user.getSeed());
  return {
    config: `operator: ${operatorJwt}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${accountJwt} }`,
    creds: `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  };
}

function sign(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const claims = {
    jti: 'test',
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    name: 'test',
    sub: subject.getPublicKey(),
    nats,
  };
  const text = [{ typ: 'JWT', alg: 'ed25519-nkey' }, claims].map(encode).join('.');
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
