import { loadConfig } from '@spout/runtime/config'
import { expect, test } from 'vitest'
import { connectorConfig } from './config.ts'

const load = (...set: string[]) => loadConfig(connectorConfig, { set }).config

test('figures are on loopback by default; beyond it a token is needed, by the name of what is missing', () => {
  expect(load().http).toEqual({ host: '127.0.0.1', port: 9133, tokenFile: '' })
  for (const host of ['0.0.0.0', '::', '10.0.0.32'])
    expect(() => load(`http.host=${host}`)).toThrow(/http\.tokenFile: is not set, and http\.host is beyond loopback/)
  expect(load('http.host=::', 'http.tokenFile=/run/token').http.host).toBe('::')
})
