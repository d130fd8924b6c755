import { describe, expect, it } from 'vitest';
import { maskShown } from '../../../src/secrets/secret-text.js';

describe('a value with the name of a secret', () => {
  it.each([
    ['GET /v1?access_token=abc123def456&page=2', 'GET /v1?access_token=***&page=2'],
    ['{"api_key":"k-4711-x","page":2}', '{"api_key":"***","page":2}'],
    ['password: hunter2', 'password: ***'],
    ['started with --client-secret s3cr3t-4711', 'started with --client-secret ***'],
    ["cookie = 'sid-81723'", "cookie = '***'"],
    ['{\\"token\\":\\"t0ken-1\\"}', '{\\"token\\":\\"***\\"}'],
  ])('is masked: %s', (text, shown) => {
    expect(maskShown(text)).toBe(shown);
    expect(maskShown(shown)).toBe(shown);
  });

  it.each([
    'token: expired at 12:30',
    'Set API_KEY=VALUE, or --token=TOKEN.',
    'authorization: required, key: missing',
    "The header 'Authorization: Bearer ${TOKEN}' is empty.",
    'token_url=https://example.com/v2, max_tokens=4096',
    'session 3 of docs: token 12 of 40',
  ])('is not seen in other text: %s', (text) => {
    expect(maskShown(text)).toBe(text);
  });
});

describe('a token with a form of its own', () => {
  it.each([
    ['Bearer abcdefgh12345', '***'],
    ['basic YWRhOnBhc3M1d29yZA==', '***'],
    ['it was eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN', 'it was ***'],
    ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', '***'],
    ['xoxb-123456789012-abcdef', '***'],
    ['sk-ant-api03-abcdefghij', '***'],
    ['sk-live-literal-0123456789', '***'],
    ['npm_0123456789abcdefghij', '***'],
    ['AKIAIOSFODNN7EXAMPLE', '***'],
    ['ASIAIOSFODNN7EXAMPLE', '***'],
    ['AIzaSyA1234567890abcdefghijklmnopqrstuvw', '***'],
    ['ya29.a0AfH6SMBabcdefghijklmnop', '***'],
    ['SG.abcdefghijklmnopqrst.abcdefghijklmnopqrst', '***'],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- end', '*** end'],
    ['postgres://a:b@c', 'postgres://***@c'],
    ['redis://:b@c', 'redis://***@c'],
    ['app:secret@tcp(db)/x', 'app:***@tcp(db)/x'],
    ['https://hooks.slack.com/services/T0/B0/Xneedle1XXXX1', 'https://hooks.slack.com/***'],
    ['https://discord.com/api/webhooks/12345/abcDEF-n33dle_x9Q', 'https://discord.com/api/webhooks/***'],
    ['https://api.telegram.org/bot123456:AAabcdefghijklmnopqrstuv/x', 'https://api.telegram.org/bot***/x'],
  ])('is masked: %s', (text, shown) => {
    expect(maskShown(text)).toBe(shown);
  });

  it.each([
    'Basic authentication, or a bearer of news',
    'npm-check-updates, sk-learn, hf_transfer',
    'https://example.com/docs/hooks/overview',
    'ready.resting+current',
  ])('is not seen in other text: %s', (text) => {
    expect(maskShown(text)).toBe(text);
  });
});
