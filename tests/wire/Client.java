import java.sql.*;

/** What a tool over JDBC does: metadata first, then questions with parameters, in parts, and a refusal. */
public class Client {
  public static void main(String[] args) throws Exception {
    try (Connection connection = DriverManager.getConnection(args[0], args[1], args[2])) {
      DatabaseMetaData data = connection.getMetaData();
      System.out.println(data.getDatabaseProductName() + " " + data.getDatabaseProductVersion());
      show("catalogs", data.getCatalogs());
      show("schemas", data.getSchemas());
      show("tables", data.getTables(null, null, "%", new String[] {"TABLE", "VIEW"}));
      show("columns", data.getColumns(null, "public", "survey", "%"));
      show("primary keys", data.getPrimaryKeys(null, "public", "survey"));
      show("imported keys", data.getImportedKeys(null, "public", "survey"));
      show("exported keys", data.getExportedKeys(null, "public", "survey"));
      show("indexes", data.getIndexInfo(null, "public", "survey", false, true));
      show("cross reference", data.getCrossReference(null, "public", "survey", null, "public", "survey"));
      show("best row", data.getBestRowIdentifier(null, "public", "survey", DatabaseMetaData.bestRowSession, true));
      show("version columns", data.getVersionColumns(null, "public", "survey"));
      show("table types", data.getTableTypes());
      show("types", data.getTypeInfo());
      show("user types", data.getUDTs(null, null, "%", null));
      show("procedures", data.getProcedures(null, null, "%"));
      show("procedure columns", data.getProcedureColumns(null, null, "%", "%"));
      show("functions", data.getFunctions(null, null, "%"));
      show("function columns", data.getFunctionColumns(null, null, "%", "%"));
      show("column privileges", data.getColumnPrivileges(null, "public", "survey", "%"));
      show("client info", data.getClientInfoProperties());
      System.out.println("keywords " + data.getSQLKeywords().length() + ", " + data.getMaxColumnNameLength());
      System.out.println("transactions " + data.getDefaultTransactionIsolation() + " " + connection.isValid(5));
      show("privileges", data.getTablePrivileges(null, "public", "survey"));
      String sql = "SELECT sex, COUNT(*) FROM survey WHERE age > ? AND sex = ? AND seen >= ? GROUP BY sex";
      try (PreparedStatement statement = connection.prepareStatement(sql)) {
        for (int i = 0; i < 7; i++) { // the driver prepares it on the server from the fifth time on
          statement.setInt(1, 20);
          statement.setString(2, "it's; --");
          statement.setDate(3, Date.valueOf("2019-01-01"));
          ResultSet found = statement.executeQuery();
          found.next();
          System.out.println("question " + found.getString(1) + " " + found.getString(2).matches("\\[\\d+,\\d+\\]"));
        }
      }
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.setFetchSize(7);
        ResultSet rows = statement.executeQuery("SELECT age, COUNT(*) FROM survey GROUP BY age ORDER BY age");
        int number = 0;
        while (rows.next()) number++;
        System.out.println("in parts " + number);
      }
      connection.commit();
      try (Statement statement = connection.createStatement()) {
        statement.executeQuery("SELECT age FROM survey");
      } catch (SQLException refused) {
        System.out.println("refused " + refused.getSQLState() + " " + refused.getMessage().split("\n")[0]);
      }
    }
  }

  static void show(String name, ResultSet rows) throws SQLException {
    System.out.println("== " + name);
    while (rows.next()) {
      StringBuilder line = new StringBuilder();
      for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) line.append(rows.getString(i)).append('|');
      System.out.println(line);
    }
  }
}
