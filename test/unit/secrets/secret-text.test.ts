import { describe, expect, it } from 'vitest';
import { maskForms } from '../../../src/secrets/secret-text.js';

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
    expect(maskForms(text)).toBe(shown);
  });

  it.each([
    'Basic authentication, or a bearer of news',
    'npm-check-updates, sk-learn, hf_transfer',
    'https://example.com/docs/hooks/overview',
    'ready.resting+current',
  ])('is not seen in other text: %s', (text) => {
    expect(maskForms(text)).toBe(text);
  });
});
