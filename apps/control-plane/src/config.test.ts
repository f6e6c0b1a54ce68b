import { loadConfig } from '@spout/runtime/config'
import { expect, test } from 'vitest'
import { controlPlaneConfig } from './config.ts'

const load = (...set: string[]) => loadConfig(controlPlaneConfig, { set }).config

test('figures are on loopback, without a token, by default', () => {
  expect(load().status).toEqual({ host: '127.0.0.1', port: 9134, tokenFile: '' })
  expect(load('status.host=::1').status.host).toBe('::1')
})

test('figures beyond loopback are refused without a token, by the name of what is missing', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.10', 'control.example.net'])
    expect(() => load(`status.host=${host}`)).toThrow(
      /status\.tokenFile: is not set, and status\.host is beyond loopback/,
    )
  expect(load('status.host=0.0.0.0', 'status.tokenFile=/etc/spout/status-token').status.host).toBe('0.0.0.0')
})
