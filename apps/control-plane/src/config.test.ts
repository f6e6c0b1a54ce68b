import { loadConfig } from '@spout/runtime/config'
import { expect, test } from 'vitest'
import { controlPlaneConfig } from './config.ts'

const load = (...set: string[]) => loadConfig(controlPlaneConfig, { set }).config

test('metrics are on loopback, without a token, by default', () => {
  expect(load().status).toEqual({ host: '127.0.0.1', port: 9134, tokenFile: '' })
  expect(load('status.host=::1').status.host).toBe('::1')
})

test('metrics beyond loopback need a token, and the error names the setting', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.10', 'control.example.net'])
    expect(() => load(`status.host=${host}`)).toThrow(
      /status\.tokenFile: is not set, and status\.host is beyond loopback/,
    )
  expect(load('status.host=0.0.0.0', 'status.tokenFile=/etc/spout/status-token').status.host).toBe('0.0.0.0')
})

test('the API beyond loopback without TLS is refused, unless the operator says that a proxy elsewhere does TLS', () => {
  for (const host of ['0.0.0.0', '::', '192.0.2.10', 'control.example.net']) {
    expect(() => load(`api.host=${host}`)).toThrow(/api\.tls: is false, and api\.host is beyond loopback/)
    expect(load(`api.host=${host}`, 'api.tls=true').api.host).toBe(host)
    expect(load(`api.host=${host}`, 'api.plainBeyondLoopback=true').api.tls).toBe(false)
  }
  for (const host of ['127.0.0.1', '::1', 'localhost']) expect(load(`api.host=${host}`).api.host).toBe(host)
})

test('a certificate of the operator needs its key, and TLS', () => {
  const files = ['api.certificateFile=/etc/spout/api.crt', 'api.keyFile=/etc/spout/api.key']
  expect(load('api.tls=true', ...files).api.certificateFile).toBe('/etc/spout/api.crt')
  expect(() => load(...files)).toThrow(/api\.tls: is false, and api\.certificateFile is set/)
  for (const one of files) expect(() => load('api.tls=true', one)).toThrow(/api\.keyFile: .*belong together/)
})

test('a Keystone needs a login of our own, and TLS unless it is on this machine', () => {
  const [url, password] = ['keystone.url=https://keystone.example:5000/', 'keystone.password=secret']
  expect(load(url, password).keystone.url).toBe('https://keystone.example:5000/v3')
  expect(load('keystone.url=http://127.0.0.1:5000/v3', password).keystone.url).toBe('http://127.0.0.1:5000/v3')
  expect(() => load('keystone.url=http://keystone.example:5000', password)).toThrow(/keystone\.url: is plain HTTP/)
  expect(() => load('keystone.url=ldap://keystone.example', password)).toThrow(/keystone\.url: is not an http/)
  expect(() => load(url)).toThrow(/keystone\.password: or keystone\.applicationCredentialId is needed/)
  const id = 'keystone.applicationCredentialId=0123'
  expect(() => load(url, id)).toThrow(/keystone\.applicationCredentialSecret: .*belong together/)
  expect(() => load(url, password, id, 'keystone.applicationCredentialSecret=x')).toThrow(/and not both/)
  expect(load(url, id, 'keystone.applicationCredentialSecret=x').keystone.applicationCredentialId).toBe('0123')
})

test('a provider of OpenID Connect is on TLS, unless it is on this machine, and lets somebody in', () => {
  const grants = 'oidc.grants=[{group: devs, project: shop, role: member}]'
  const issuer = 'oidc.issuer=https://login.example/realms/staff'
  const needed = [issuer, 'oidc.clientId=spout', grants]
  expect(load(...needed).oidc).toMatchObject({ scopes: ['openid', 'profile', 'email'], groupsClaim: 'groups' })
  expect(load().oidc.issuer).toBe('')
  expect(load(...needed, 'oidc.issuer=http://127.0.0.1:8080').oidc.issuer).toBe('http://127.0.0.1:8080')
  for (const wrong of ['http://login.example', 'ldap://login.example', 'login.example', 'https://login.example/?a=b'])
    expect(() => load(...needed, `oidc.issuer=${wrong}`)).toThrow(/oidc\.issuer: is not an https URL/)
  expect(() => load(issuer, grants)).toThrow(/oidc\.clientId: and oidc\.issuer belong together/)
  expect(() => load(issuer, 'oidc.clientId=spout')).toThrow(/oidc\.grants: is empty, and oidc\.issuer is set/)
  expect(() => load(...needed, 'oidc.scopes=[profile]')).toThrow(/oidc\.scopes: has no openid/)
  expect(() => load(...needed, 'oidc.scopes=[openid, "a b"]')).toThrow(/oidc\.scopes\.1: is no scope/)
  expect(() => load(...needed, 'oidc.clientSecret=s', 'oidc.clientSecretFile=/s')).toThrow(/exclude each other/)
  expect(() => load(...needed, 'oidc.grants=[{group: g, project: p, role: root}]')).toThrow(/oidc\.grants\.0\.role/)
})
