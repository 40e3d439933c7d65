metadata description = 'What the app may do, and what senders may do. Each role has its reason.'

@description('Name of the storage account with the state.')
param storageName string

@description('Name of the storage account with the demand queues. Empty: there is none.')
param demandStorageName string

@description('Name of the storage account with the package. Empty: that with the state.')
param packageStorageName string

@description('Name of the Application Insights component.')
param insightsName string

@description('Object id of the identity of the app.')
param appPrincipalId string

@description('Name of the storage account whose queue demand takes messages.')
param senderQueueAccount string

@description('Object ids of identities that may send demand.')
param senderPrincipalIds array

@description('Kind of these identities.')
param senderPrincipalType string

// Reason: the host keeps its locks, keys and the package in blobs. It makes and deletes containers of its own.
var blobDataOwner = 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
// Reason: the platform keeps the package there, and reads it.
var blobDataContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
// Reason: the trigger takes and deletes messages, the app sends wake messages, and the first tick makes missing queues.
var queueDataContributor = '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
// Reason: the records of the clusters.
var tableDataContributor = '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
// Reason: telemetry, as local authentication is off.
var monitoringMetricsPublisher = '3913510d-42f4-4e42-8a64-420c390055eb'
// Reason: a sender adds messages, and reads and deletes none.
var queueDataMessageSender = 'c6a89b2d-59bc-44d0-9896-0f6e12d7b80a'

var stateRoles = [blobDataOwner, queueDataContributor, tableDataContributor]

resource storage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: storageName
}

resource demandStorage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: empty(demandStorageName) ? storageName : demandStorageName
}

resource packageStorage 'Microsoft.Storage/storageAccounts@2026-04-01' existing = {
  name: empty(packageStorageName) ? storageName : packageStorageName
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: insightsName
}

resource demandQueue 'Microsoft.Storage/storageAccounts/queueServices/queues@2026-04-01' existing = {
  name: '${senderQueueAccount}/default/demand'
}

resource onState 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for role in stateRoles: {
  name: guid(storage.id, appPrincipalId, role)
  scope: storage
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
}]

resource onDemand 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(demandStorageName)) {
  name: guid(demandStorage.id, appPrincipalId, queueDataContributor)
  scope: demandStorage
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', queueDataContributor)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
}

resource onPackage 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(packageStorageName)) {
  name: guid(packageStorage.id, appPrincipalId, blobDataContributor)
  scope: packageStorage
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', blobDataContributor)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
}

resource onInsights 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(insights.id, appPrincipalId, monitoringMetricsPublisher)
  scope: insights
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', monitoringMetricsPublisher)
    principalId: appPrincipalId
    principalType: 'ServicePrincipal'
  }
}

resource ofSenders 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for sender in senderPrincipalIds: {
  name: guid(demandQueue.id, sender, queueDataMessageSender)
  scope: demandQueue
  properties: {
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', queueDataMessageSender)
    principalId: sender
    principalType: senderPrincipalType
  }
}]
