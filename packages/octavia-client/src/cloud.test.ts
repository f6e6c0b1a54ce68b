import { describe, expect, test } from 'vitest'
import { BadCloud, type CloudSources, cloudOf, readClouds } from './cloud.ts'

const FILE = `
clouds:
  prod:
    region_name: west
    auth:
      auth_url: https://keystone.example:5000
      username: root
      project_name: admin
  old:
    auth_type: none
    auth: { endpoint: "http://127.0.0.1:9876" }
  robot:
    interface: internal
    auth: { auth_url: "https://k", application_credential_id: abc, application_credential_secret: 12 }
`

const sources = (fields: Partial<CloudSources>): CloudSources => ({
  ...{ name: null, clouds: [readClouds('clouds.yaml', FILE)], secrets: [], env: {}, endpoint: null },
  ...fields,
})

describe('a cloud of clouds.yaml', () => {
  test('takes its password from secure.yaml', () => {
    const secrets = [readClouds('secure.yaml', 'clouds: { prod: { auth: { password: hush } } }')]
    expect(cloudOf(sources({ name: 'prod', secrets }))).toEqual({
      authType: 'password',
      auth: {
        ...{ auth_url: 'https://keystone.example:5000', username: 'root', project_name: 'admin', password: 'hush' },
      },
      region: 'west',
      interface: 'public',
      endpoint: null,
      networkEndpoint: null,
    })
  })

  test('has a Neutron where it says so, or where the caller does', () => {
    const clouds = [
      readClouds(
        'c.yaml',
        'clouds: { a: { auth_type: none, auth: { endpoint: http://o }, network_endpoint_override: http://n } }',
      ),
    ]
    expect(cloudOf(sources({ name: 'a', clouds }))).toMatchObject({ networkEndpoint: 'http://n' })
    expect(cloudOf(sources({ name: 'a', clouds, networkEndpoint: 'http://m' }))).toMatchObject({
      networkEndpoint: 'http://m',
    })
  })

  test('without authentication has its endpoint', () => {
    expect(cloudOf(sources({ name: 'old' }))).toMatchObject({ authType: 'none', endpoint: 'http://127.0.0.1:9876' })
  })

  test('with an application credential needs no auth_type', () => {
    expect(cloudOf(sources({ name: 'robot' }))).toMatchObject({
      ...{ authType: 'applicationCredential', interface: 'internal' },
      auth: { application_credential_secret: '12' },
    })
  })

  test.each([
    [{ name: 'nosuch' }, 'no clouds.yaml has cloud nosuch'],
    [{ env: {} }, 'name the cloud: --os-cloud NAME, the OS_* variables, or --endpoint URL without a token'],
    [
      { env: { OS_AUTH_TYPE: 'v3oidcpassword', OS_AUTH_URL: 'http://k' } },
      'auth_type v3oidcpassword is not known here',
    ],
  ])('%j is refused', (fields, message) => {
    expect(() => cloudOf(sources(fields))).toThrow(new BadCloud(message))
  })

  test('a file that is none is refused with the place', () => {
    expect(() => readClouds('c.yaml', 'clouds: { a: { auth: 3 } }')).toThrow(/^c\.yaml: clouds\.a\.auth: /)
    expect(() => readClouds('c.yaml', 'a: [')).toThrow(/^c\.yaml: /)
  })
})

test('the OS_* variables describe a cloud, and an endpoint alone one without authentication', () => {
  const env = {
    OS_AUTH_URL: 'http://k/v3',
    OS_USERNAME: 'u',
    OS_PASSWORD: 'p',
    OS_PROJECT_NAME: 'x',
    OS_REGION_NAME: 'r',
  }
  expect(cloudOf(sources({ env }))).toMatchObject({
    ...{ authType: 'password', region: 'r', endpoint: null },
    auth: { auth_url: 'http://k/v3', username: 'u', password: 'p', project_name: 'x' },
  })
  expect(cloudOf(sources({ endpoint: 'http://o' }))).toMatchObject({ authType: 'none', endpoint: 'http://o' })
})
