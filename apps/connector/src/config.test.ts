import { loadConfig } from '@spout/runtime/config'
import { expect, test } from 'vitest'
import { connectorConfig } from './config.ts'

const load = (...set: string[]) => loadConfig(connectorConfig, { set }).config
const TWO = ['https://cp1.example:9130', 'https://cp2.example:9130']

test('the control planes are one URL, several in one text, or a list', () => {
  expect(load().spout.endpoint).toEqual(['http://127.0.0.1:9130'])
  expect(load('spout.endpoint=https://cp1.example:9130').spout.endpoint).toEqual(TWO.slice(0, 1))
  expect(load(`spout.endpoint=${TWO.join(', ')}`).spout.endpoint).toEqual(TWO)
  expect(load(`spout.endpoint=[${TWO.join(', ')}]`).spout.endpoint).toEqual(TWO)
  const variables = { SPOUT_CONNECTOR_SPOUT_ENDPOINT: TWO.join() }
  const environment = { prefix: 'SPOUT_CONNECTOR', variables }
  expect(loadConfig(connectorConfig, { environment }).config.spout.endpoint).toEqual(TWO)
  const text = `spout:\n  endpoint:\n    - ${TWO.join('\n    - ')}\n`
  const loaded = loadConfig(connectorConfig, { file: { name: 'connector.yaml', text } })
  expect(loaded.config.spout.endpoint).toEqual(TWO)
  expect(loaded.print()).toContain(`spout.endpoint = ${JSON.stringify(TWO)}  # connector.yaml:`)
})

test.each([
  ['9130', 'is neither a URL nor a list of URLs'],
  ['[]', 'names no URL'],
  ['cp1.example:9130', '"cp1.example:9130" is not a URL like https://spout.example.org:9130'],
  ['https://cp1.example,', '"" is not a URL'],
])('no control planes: %s', (given, reason) => {
  expect(() => load(`spout.endpoint=${given}`)).toThrow(`spout.endpoint: ${reason}`)
})

test('figures are on loopback by default; beyond it a token is needed, by the name of what is missing', () => {
  expect(load().http).toEqual({ host: '127.0.0.1', port: 9133, tokenFile: '' })
  for (const host of ['0.0.0.0', '::', '10.0.0.32'])
    expect(() => load(`http.host=${host}`)).toThrow(/http\.tokenFile: is not set, and http\.host is beyond loopback/)
  expect(load('http.host=::', 'http.tokenFile=/run/token').http.host).toBe('::')
})

test('the web page is the place of its files, without credentials or a query that links would lose', () => {
  expect(load().spout.pageUrl).toBe('')
  for (const url of ['https://spout.example/ui/', 'http://192.0.2.1:9130/ui'])
    expect(load(`spout.pageUrl=${url}`).spout.pageUrl).toBe(url)
  const others = ['spout.example/ui', 'javascript:alert(1)', 'https://ann:pw@spout.example/ui/', '/ui/']
  for (const url of [...others, 'https://spout.example/ui/?a=b', 'https://spout.example/ui/#x'])
    expect(() => load(`spout.pageUrl=${url}`)).toThrow('spout.pageUrl: is not a URL')
  expect(() => load(`spout.pageUrl=https://${'x'.repeat(300)}`)).toThrow('spout.pageUrl: Too big')
})
