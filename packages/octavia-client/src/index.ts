/**
 * A client of any Octavia: where a cloud is by `clouds.yaml` or `OS_*` variables, the login at its Keystone, and calls of
 * the v2 API. It knows nothing of Spout.
 */
export { BadCloud, type Cloud, type CloudSources, cloudOf, readClouds } from './cloud.ts'
export { type Access, login } from './login.ts'
export { type Answer, type Attributes, OctaviaClient, OctaviaRefusal } from './octavia-client.ts'
