metadata description = 'A storage account without keys, with the containers, queues and tables that the code uses.'

@description('Name of the account: 3 to 24 small letters and digits.')
param name string

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('true: reached by private endpoints only.')
param isPrivate bool

@description('Keeps three copies in three zones.')
param zoneRedundant bool

@description('Locks the account against deletion.')
param deleteLock bool

@description('Id of the workspace for logs of who used the account.')
param workspaceId string

@description('What is logged of queues and tables: StorageRead, StorageWrite, StorageDelete.')
param logCategories array

@description('Names of blob containers.')
param containers array

@description('Names of queues.')
param queues array

@description('Names of tables.')
param tables array

resource account 'Microsoft.Storage/storageAccounts@2026-04-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: zoneRedundant ? 'Standard_ZRS' : 'Standard_LRS' }
  properties: {
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: isPrivate ? 'Disabled' : 'Enabled'
    networkAcls: {
      // Event Grid and the platform's own services come in by this (docs/platform.md section 4).
      bypass: 'AzureServices'
      defaultAction: isPrivate ? 'Deny' : 'Allow'
    }
  }

  resource blobService 'blobServices' = {
    name: 'default'

    resource container 'containers' = [for item in containers: {
      name: item
      properties: { publicAccess: 'None' }
    }]
  }

  resource queueService 'queueServices' = {
    name: 'default'

    resource queue 'queues' = [for item in queues: {
      name: item
    }]
  }

  resource tableService 'tableServices' = {
    name: 'default'

    resource table 'tables' = [for item in tables: {
      name: item
    }]
  }
}

var logs = [for category in logCategories: { category: category, enabled: true }]

resource queueLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(logCategories) && !empty(queues)) {
  name: 'audit'
  scope: account::queueService
  properties: {
    workspaceId: workspaceId
    logs: logs
  }
}

resource tableLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(logCategories) && !empty(tables)) {
  name: 'audit'
  scope: account::tableService
  properties: {
    workspaceId: workspaceId
    logs: logs
  }
}

resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (deleteLock) {
  name: 'keep'
  scope: account
  properties: {
    level: 'CanNotDelete'
    notes: 'State of the autoscaler.'
  }
}

output name string = account.name
