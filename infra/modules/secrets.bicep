metadata description = 'The secrets of the app, in a vault that may be in another resource group, and the right to read these two and no others.'

@description('Name of the vault.')
param vaultName string

@description('Object id of the identity of the app.')
param appPrincipalId string

@description('Comes before the names of the secrets in a vault that others use too.')
param namePrefix string

@description('Password for CycleCloud. Empty: the secret stays as it is.')
@secure()
param cyclecloudPassword string = ''

@description('Day on which the password ends, such as 2027-06-30. Empty: none.')
param passwordExpiry string

@description('Address of an existing secret in this vault that holds the password. Empty: the secret of this deployment.')
param existingPasswordUri string

@description('Leave this out: half of the first token key, made at random.')
@secure()
param firstHalf string = newGuid()

@description('Leave this out: the other half.')
@secure()
param secondHalf string = newGuid()

var keysName = '${namePrefix}autostop-keys'
var ownPasswordName = '${namePrefix}cyclecloud-password'
// https://VAULT/secrets/NAME: the fifth part is the name.
var passwordName = empty(existingPasswordUri) ? ownPasswordName : split(existingPasswordUri, '/')[4]
var secretsUser = '4633458b-17de-408a-b874-0445c86b69e6'

resource vault 'Microsoft.KeyVault/vaults@2026-02-01' existing = {
  name: vaultName
}

// Nodes keep the stop URL that they were made with. So the key is made once, and a later deployment leaves it alone.
@onlyIfNotExists()
resource autostopKeys 'Microsoft.KeyVault/vaults/secrets@2026-02-01' = {
  parent: vault
  name: keysName
  properties: {
    value: 'k1:${firstHalf}${secondHalf}'
    contentType: 'AUTOSCALER_AUTOSTOP_KEYS: id:secret, newest first, separated by commas'
  }
}

resource password 'Microsoft.KeyVault/vaults/secrets@2026-02-01' = if (!empty(cyclecloudPassword)) {
  parent: vault
  name: ownPasswordName
  properties: {
    value: cyclecloudPassword
    contentType: 'password of the CycleCloud user'
    attributes: empty(passwordExpiry) ? null : { exp: dateTimeToEpoch('${passwordExpiry}T00:00:00Z') }
  }
}

resource usedPassword 'Microsoft.KeyVault/vaults/secrets@2026-02-01' existing = {
  parent: vault
  name: passwordName
}

// Reason: the platform reads the two secrets for the app settings, as this identity. It may read no other secret of the vault.
resource readKeys 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(autostopKeys.id, appPrincipalId, secretsUser)
  scope: autostopKeys
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
}

// A deployment that brings no password leaves the role as the one before made it.
resource readPassword 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(cyclecloudPassword) || !empty(existingPasswordUri)) {
  name: guid(usedPassword.id, appPrincipalId, secretsUser)
  scope: usedPassword
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', secretsUser)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
  dependsOn: [password]
}

output autostopKeysUri string = '${vault.properties.vaultUri}secrets/${keysName}'
output passwordUri string = '${vault.properties.vaultUri}secrets/${passwordName}'
