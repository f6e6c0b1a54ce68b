/**
 * A client of any Octavia, and of the Neutron beside it: where a cloud is by `clouds.yaml` or `OS_*` variables, the login
 * at its Keystone, and calls of both APIs. It knows nothing of Spout.
 */
export { type Answer, ApiRefusal, type Attributes } from './api-client.ts'
export { BadCloud, type Cloud, type CloudSources, cloudOf, readClouds } from './cloud.ts'
export { type Access, login } from './login.ts'
export { NeutronClient } from './neutron-client.ts'
export { OctaviaClient } from './octavia-client.ts'
