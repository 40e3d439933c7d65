metadata description = 'Logs with a daily cap. Telemetry comes in by identity only.'

@description('Name of the workspace.')
param workspaceName string

@description('Name of the Application Insights component.')
param insightsName string

@description('Region.')
param location string

@description('Tags.')
param tags object

@description('Id of an existing workspace. Empty: one is made.')
param existingWorkspaceId string

@description('Gigabytes a day.')
param dailyCapGb int

@description('Days that logs are kept.')
param retentionDays int

resource workspace 'Microsoft.OperationalInsights/workspaces@2026-03-01' = if (empty(existingWorkspaceId)) {
  name: workspaceName
  location: location
  tags: tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: retentionDays
    workspaceCapping: { dailyQuotaGb: dailyCapGb }
  }
}

var workspaceId = empty(existingWorkspaceId) ? workspace.id : existingWorkspaceId

resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: insightsName
  location: location
  tags: tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspaceId
    DisableLocalAuth: true
  }
}

output workspaceId string = workspaceId
output insightsId string = insights.id
output insightsName string = insights.name
output connectionString string = insights.properties.ConnectionString
