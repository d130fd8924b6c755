import { describe, expect, it } from 'vitest';
import { isSecret, suggestsSecret } from '../../../src/secrets/is-secret.js';

describe('a name', () => {
  it.each(
    `API_KEY apiKey X-Api-Key OPENAI_API_KEY GITHUB_TOKEN githubToken GITHUB_PAT DB_PASS DBPASS PGPASSWORD MYSQL_PWD
    KILN_PASS Authorization X-Auth Cookie CLIENT_SECRET SENTRY_DSN JWT SLACK_WEBHOOK session --token key AWS_SECRET_ACCESS_KEY
    SSH_PRIVATE_KEY KEY_PASSPHRASE PROXY_CREDENTIALS`.split(/\s+/),
  )('%s suggests a secret', (name) => {
    expect(suggestsSecret(name)).toBe(true);
  });

  it.each(
    `LOG_LEVEL TRANSPORT READ_ONLY HOST PORT DATABASE REGION TOKEN_URL AUTH_MODE KEY_FILE MAX_TOKENS TOKEN_LIMIT
    SECRET_NAME KEYBOARD MONKEY COMPASS BYPASS AUTHOR Accept Content-Type X-Region --depth PASSWORD_LENGTH ISSUER`.split(
      /\s+/,
    ),
  )('%s does not suggest a secret', (name) => {
    expect(suggestsSecret(name)).toBe(false);
  });
});

describe('a value', () => {
  it.each([
    ...'true FALSE no info DEBUG stdio sse postgres root test production localhost 127.0.0.1 5432 0.5 30s 8080 db.internal:5432'.split(
      ' ',
    ),
    'api.example.com',
    '/home/ada/.config/gcloud/credentials.json',
    './keys/client.pem',
    'C:\\Users\\ada\\key.pem',
  ])('is never a secret: %s', (value) => {
    for (const name of ['KEY', 'PASSWORD', 'API_TOKEN', 'MODE', ''])
      expect(isSecret([name], value)).toBe(false);
  });

  it.each([
    'inventory',
    'North West',
    'eu-west-1',
    'us-east-1a',
    'gpt-4o-mini',
    'claude-3-5-sonnet-20241022',
    'https://mcp.example.com/v2/search',
    '--depth=3',
    'ada@example.com',
    '2026-11-29T10:00:00',
    'application/json, text/event-stream',
    'readOnlyMode',
    'node18x',
    'Grüße aus Köln',
  ])('is a secret only under the name of a secret: %s', (value) => {
    expect(isSecret(['MODE'], value)).toBe(false);
  });

  it.each([
    'kj3h5k2jh34kjh23',
    'sk-proj-9f8Gh2kLmN0pQrSt',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'AKIAIOSFODNN7EXAMPLE',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    '3f2a9c0d4e5b6a7f8091a2b3c4d5e6f7',
  ])('is a secret because of its form: %s', (value) => {
    for (const name of ['MODE', 'X', '']) expect(isSecret([name], value)).toBe(true);
  });

  it.each(['s3cret-word', 'hunter', 'correct horse battery staple', 'пароль!', '12345678', 'my.own.word'])(
    'is a secret under the name of one: %s',
    (value) => {
      for (const name of ['KILN_PASS', 'X-Api-Key', 'token']) expect(isSecret([name], value)).toBe(true);
      expect(isSecret(['MODE', 'TOKEN'], value)).toBe(true);
    },
  );
});
