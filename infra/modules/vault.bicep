metadata description = 'A key vault that knows roles only.'

@description('Name of the vault.')
param name string

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('true: reached by a private endpoint only.')
param isPrivate bool

@description('A deleted vault cannot be purged.')
param purgeProtection bool

@description('Locks the vault against deletion.')
param deleteLock bool

@description('Id of the workspace for logs of who used secrets.')
param workspaceId string

@description('What is logged: AuditEvent, or nothing.')
param logCategories array

resource vault 'Microsoft.KeyVault/vaults@2026-02-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    tenantId: subscription().tenantId
    sku: {
      family: 'A'
      name: 'standard'
    }
    enableRbacAuthorization: true
    enableSoftDelete: true
    softDeleteRetentionInDays: 7
    // Azure refuses false here: the property is left out instead.
    enablePurgeProtection: purgeProtection ? true : null
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
    networkAcls: {
      bypass: 'AzureServices'
      defaultAction: isPrivate ? 'Deny' : 'Allow'
    }
  }
}

resource logs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(logCategories)) {
  name: 'audit'
  scope: vault
  properties: {
    workspaceId: workspaceId
    logs: [for category in logCategories: { category: category, enabled: true }]
  }
}

resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (deleteLock) {
  name: 'keep'
  scope: vault
  properties: {
    level: 'CanNotDelete'
    notes: 'Secrets of the autoscaler.'
  }
}

output name string = vault.name
